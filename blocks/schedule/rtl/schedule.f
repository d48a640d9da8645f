-f ../../common/rtl/common.f
-f ../../timing/rtl/timing.f
pst_schedule_ports_pkg.sv
pst_outstanding.sv
pst_send_ahead.sv
pst_schedule_shaped.sv
pst_schedule_passthrough.sv
pst_schedule_own.sv
pst_schedule.sv
