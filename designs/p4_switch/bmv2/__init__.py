"""A scenario of a P4 device on bmv2's simple_switch: in network namespaces of its own, with TCP of the kernel, by the machine's clock.

`script` makes commands of the runtime CLI, `played` says what comes to the switch, `stage` is the process that runs in the namespaces
(`penstock.network.spaces`), `result` says what was measured beside what the P4 device gives, `target` is what the workbench sees.
"""
