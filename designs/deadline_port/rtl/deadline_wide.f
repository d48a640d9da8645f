-f ../../../blocks/common/rtl/common.f
-f ../../../blocks/memory/rtl/memory.f
-f ../../../blocks/deadline/rtl/deadline.f
-f deadline_port_control.f
pst_deadline_wide_ports_pkg.sv
pst_deadline_bank.sv
pst_deadline_sum.sv
pst_deadline_segments.sv
pst_deadline_wide_counters.sv
pst_deadline_wide_drain.sv
pst_deadline_wide.sv
