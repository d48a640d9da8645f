-f ../../common/rtl/common.f
pst_queue_manager.sv
