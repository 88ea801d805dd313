# SPDX-License-Identifier: MIT
"""Run the tram delay notebook with papermill, as the nightly report does."""
import argparse

import nbformat
import papermill

CELLS = [
    "import numpy as np\nimport pandas as pd\nrng = np.random.default_rng(days)",
    "stops = [f'stop {number}' for number in range(400)]\n"
    "trips = pd.DataFrame({'stop': rng.integers(0, 400, days * per_day), 'delay': rng.exponential(90, days * per_day),\n"
    "                      'day': np.repeat(np.arange(days), per_day)})\n"
    "print(len(trips), 'arrivals,', round(trips.memory_usage().sum() / 1e6), 'MB')",
    "trips['name'] = [stops[number] + ', day ' + str(day) for number, day in zip(trips.stop, trips.day)]\n"
    "print(round(trips.memory_usage(deep=True).sum() / 1e6), 'MB with names')",
    "worst = trips.groupby('name').delay.mean().nlargest(5)\nprint(worst)",
]


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--days", type=int, default=30)
    parser.add_argument("--per-day", type=int, default=50000)
    args = parser.parse_args()
    notebook = nbformat.v4.new_notebook()
    parameters = nbformat.v4.new_code_cell("days, per_day = 1, 1000", metadata={"tags": ["parameters"]})
    notebook.cells = [parameters] + [nbformat.v4.new_code_cell(source) for source in CELLS]
    notebook.metadata["kernelspec"] = {"name": "python3", "display_name": "Python 3", "language": "python"}
    nbformat.write(notebook, "tram_delays.ipynb")
    papermill.execute_notebook("tram_delays.ipynb", "tram_delays_out.ipynb", log_output=True, progress_bar=True,
                               parameters={"days": args.days, "per_day": args.per_day})
    print("report written to tram_delays_out.ipynb")


if __name__ == "__main__":
    main()
