# SPDX-License-Identifier: MIT
"""Operations by the kind of kernel that they launch: rows of tables, drawn over dtypes, shapes and layouts."""
