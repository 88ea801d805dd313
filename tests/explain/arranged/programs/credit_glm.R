# SPDX-License-Identifier: MIT
# Logistic regression of credit defaults with interactions: Rscript credit_glm.R ROWS FACTORS
arguments <- as.integer(commandArgs(trailingOnly = TRUE))
rows <- arguments[1]
levels <- arguments[2]
set.seed(5)
loans <- data.frame(
  income = rlnorm(rows, 10, 0.4),
  region = factor(sample(levels, rows, replace = TRUE)),
  branch = factor(sample(12, rows, replace = TRUE)),
  age = sample(18:80, rows, replace = TRUE)
)
loans$default <- rbinom(rows, 1, plogis(-2 + 0.02 * (loans$age - 40)))
cat("loans:", nrow(loans), "rows,", format(object.size(loans), units = "MB"), "\n")
design <- model.matrix(default ~ region * branch + age + log(income), loans)
cat("design:", dim(design), format(object.size(design), units = "MB"), "\n")
weights <- crossprod(design, loans$default - mean(loans$default))
cat("largest score:", round(max(abs(weights)), 2), "\n")
