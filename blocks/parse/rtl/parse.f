-f ../../common/rtl/common.f
pst_parse_pkg.sv
pst_parse_window.sv
pst_parse_link.sv
pst_parse_network.sv
pst_parse_extension.sv
pst_parse_transport.sv
pst_parse_stages.sv
pst_parse.sv
