"""What the files of --artifact-dir are called: the report of the run, and in the folder of each case what tells its
story beside its output and events.
"""

REPORT_FILE = "report.json"
REPLAY_FILE = "replay.txt"  # the replay string of the case
MERGED_PLAN_FILE = "merged_plan.json"  # all rules that the case met, its scenario's own among them
