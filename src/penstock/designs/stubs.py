"""What the stub test benches of several designs share: SystemVerilog, indented as in a module."""

READ_REGISTER = """  // Inputs change at the falling edge, so nothing races with the rising one.
  task automatic read_register(input logic [11:0] address, output logic [31:0] data);
    @(negedge clk_i);
    s_axil_araddr_i  = address;
    s_axil_arvalid_i = 1'b1;
    s_axil_rready_i  = 1'b1;
    do @(posedge clk_i); while (!s_axil_arready_o);
    @(negedge clk_i);
    s_axil_arvalid_i = 1'b0;
    while (!s_axil_rvalid_o) @(negedge clk_i);
    if (s_axil_rresp_o != 2'b00) $fatal(1, "register %03h: error response", address);
    data = s_axil_rdata_o;
    @(negedge clk_i);
    s_axil_rready_i = 1'b0;
  endtask
"""
