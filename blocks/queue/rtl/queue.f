-f ../../common/rtl/common.f
pst_queue_ports_pkg.sv
pst_queue_manager.sv
