"""Live traffic: real programs on hosts of this machine, and a device between them in real time (`penstock live`).

`spaces` begins the process in which a run happens and takes everything away at its end, `hosts` makes the hosts, `stage` carries a run
out, `view` shows it while it goes on, `result` says what was seen; `applications` has what runs on the hosts.
"""
