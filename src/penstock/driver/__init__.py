"""Register access to a device, wherever it is: in this process, behind PCIe, or in another process.

carrier.py     what all of them can do: programs of writes, reads and waits
in_process.py  a device of the engine, RTL or model, that runs beside us with its traffic
mapped.py      a memory-mapped PCIe BAR
remote.py      a device in another process, over a socket; and the process that has it
blocks.py      the self-describing register blocks: what is there, and whether we understand it
"""
