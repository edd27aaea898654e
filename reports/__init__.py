"""Reports: pure functions from the record of a run to bytes, one format a file. Nothing here reads or writes files."""
