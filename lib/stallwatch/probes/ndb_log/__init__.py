"""What the logs of NDB data nodes and management nodes show: who stalls, why, and what to do about it.

In the order of the road: `options` (what may be asked for, and default thresholds), `probe` (one run, step by
step: start reading here), `collect` (what is new in each log), `lines` (a line without its prefix), `model`
(how a subject reads lines, and whose log it is). Then the subjects, each with a table of its lines:
`diagnosis` (alerts of single lines by the table in `rules`, and backups), `shutdown` with `nodes`, `down`,
`exit_codes`, `reasons`, `redo`, `watchdog` with `stuck`, `threads`, `unknown` (warnings that no other subject
knows), `starts` (of data nodes that do not get on). `peers` are the connections between nodes, `events` what
incidents are made of. `ends` and `incidents` put all logs together. `error_log` reads ndb_N_error.log,
`mgm_text` what ndb_mgm printed, and `zone` corrects times. `declared` has the labels of the perfdata.

Formats, severities and rules: NDB 5.0 to 9.7, from its source and from measurements on a real 9.7.2.
"""
