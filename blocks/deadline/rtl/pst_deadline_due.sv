// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// Gives each frame its deadline: the cycle of its first beat, and how long frames of its class may wait.
//
// A setting counts for frames whose first beat comes after it is taken. The time stamps must never think that a class waits for less than a
// frame of it does that they have not seen yet: they learn of a longer wait before it counts, and of a shorter one when all frames that began
// before it have gone through the tail. A frame that arrived earlier (ArrivedGiven) is over earlier than they think, never later.
//
// Throughput: a beat per cycle, less a few at a setting. Latency: 1 cycle. Order: kept.
// Reset: frames inside are forgotten; a walk gives all classes DefaultCycles, and tells the time stamps; then init_done_o.
module pst_deadline_due
  import pst_deadline_pkg::*;
#(
    parameter int unsigned Classes       = 64,       // 2..256
    parameter int unsigned DefaultCycles = 1000000,  // of a class that was not set, below 2^30
    parameter int unsigned StoreFrames   = 512,      // between here and the end of the tail, at most
    parameter bit          ArrivedGiven  = 1'b0,     // a frame waits from s_arrived_i on; else from its first beat here
    localparam int unsigned ClassWidth = $clog2(Classes),
    localparam int unsigned DataWidth  = pst_memory_pkg::DataWidth
) (
    input  logic                  clk_i,
    input  logic                  rst_i,
    output logic                  init_done_o,
    input  time_t                 now_i,
    // how long frames of a class may wait
    input  logic                  s_set_valid_i,
    output logic                  s_set_ready_o,
    input  logic [ClassWidth-1:0] s_set_class_i,
    input  logic [          31:0] s_set_cycles_i,  // below 2^30
    output logic                  m_set_valid_o,   // to the time stamps
    input  logic                  m_set_ready_i,
    output logic [ClassWidth-1:0] m_set_class_o,
    output logic [          31:0] m_set_cycles_o,
    // frames
    input  logic                  s_valid_i,
    output logic                  s_ready_o,
    input  logic [ DataWidth-1:0] s_data_i,
    input  logic [           6:0] s_bytes_last_i,
    input  logic                  s_last_i,
    input  logic                  s_bad_i,
    input  logic [ClassWidth-1:0] s_class_i,
    input  logic [          15:0] s_user_i,
    input  time_t                 s_arrived_i,     // with ArrivedGiven, at the first beat: not after now_i
    output logic                  m_valid_o,
    input  logic                  m_ready_i,
    output logic [ DataWidth-1:0] m_data_o,
    output logic [           6:0] m_bytes_last_o,
    output logic                  m_last_o,
    output logic                  m_bad_o,
    output logic [ClassWidth-1:0] m_class_o,
    output time_t                 m_deadline_o,
    output logic [          15:0] m_user_o,
    // what became of them: refused in the cycle after the last beat, or through the tail
    input  logic                  refused_i,
    input  logic                  fate_i
);

  if (DefaultCycles >= 2 ** 30) begin : g_bad_default
    $error("pst_deadline_due: DefaultCycles is %0d, must be below 2^30", DefaultCycles);
  end

  localparam int unsigned CountWidth = $clog2(StoreFrames + 1);

  typedef logic [ClassWidth-1:0] class_t;
  typedef logic [CountWidth-1:0] count_t;

  typedef struct packed {
    logic [15:0]          user;
    class_t               class_id;
    logic                 bad;
    logic                 last;
    logic [6:0]           bytes_last;
    logic [DataWidth-1:0] data;
  } beat_t;

  // ---- Frames: the class's setting is read with the first beat, and stands until the next frame's; none begins while one is written ----
  logic taken, first_q, valid_q, hold;
  beat_t beat_q;
  time_t began_q;
  logic [31:0] wait_cycles;

  assign s_ready_o    = !(hold && first_q) && (!valid_q || m_ready_i);
  assign taken        = s_valid_i && s_ready_o;
  assign m_valid_o    = valid_q;
  assign m_deadline_o = began_q + wait_cycles;
  assign {m_user_o, m_class_o, m_bad_o, m_last_o, m_bytes_last_o, m_data_o} = beat_q;

  always_ff @(posedge clk_i) begin
    if (taken) beat_q <= {s_user_i, s_class_i, s_bad_i, s_last_i, s_bytes_last_i, s_data_i};
    if (taken && first_q) began_q <= ArrivedGiven ? s_arrived_i : now_i;
    if (taken) first_q <= s_last_i;
    valid_q <= taken || (valid_q && !m_ready_i);
    if (rst_i) begin
      first_q <= 1'b1;
      valid_q <= 1'b0;
    end
  end

  // ---- Settings: one at a time ----
  typedef enum logic [2:0] {SetInit, SetIdle, SetRead, SetLonger, SetWrite, SetEnd, SetDrain, SetShorter} set_e;
  set_e step_d, step_q;
  class_t class_d, class_q;
  logic [31:0] cycles_q, old;
  logic shorter_q, write, ended_q;
  count_t stored_d, stored_q;   // frames whose last beat has left this module and that are not through the tail
  count_t ahead_d, ahead_q;     // of these, those from before the setting

  assign init_done_o    = step_q != SetInit;
  assign s_set_ready_o  = step_q == SetIdle;
  assign m_set_valid_o  = step_q == SetInit || step_q == SetLonger || step_q == SetShorter;
  assign m_set_class_o  = class_q;
  assign m_set_cycles_o = cycles_q;
  assign hold           = step_q == SetInit || step_q == SetWrite || step_q == SetEnd;
  assign write          = step_q == SetInit || (step_q == SetWrite && first_q);

  always_comb begin
    stored_d = stored_q + count_t'(ended_q && !refused_i) - count_t'(fate_i);
    ahead_d  = ahead_q - count_t'(fate_i);
    step_d   = step_q;
    class_d  = class_q;
    case (step_q)
      SetInit:
      if (m_set_ready_i) begin
        class_d = class_q + 1'b1;
        if (class_q == class_t'(Classes - 1)) step_d = SetIdle;
      end
      SetIdle:
      if (s_set_valid_i) begin
        class_d = s_set_class_i;
        step_d  = SetRead;
      end
      SetRead:   step_d = cycles_q > old ? SetLonger : SetWrite;
      SetLonger: if (m_set_ready_i) step_d = SetWrite;
      SetWrite:  if (first_q) step_d = shorter_q ? SetEnd : SetIdle;
      SetEnd: begin
        ahead_d = stored_d;
        if (!valid_q) step_d = SetDrain;
      end
      SetDrain:  if (ahead_q == '0) step_d = SetShorter;
      default:   if (m_set_ready_i) step_d = SetIdle;
    endcase
    if (step_q == SetDrain && ahead_q == '0) ahead_d = '0;
  end

  always_ff @(posedge clk_i) begin
    step_q   <= step_d;
    class_q  <= class_d;
    stored_q <= stored_d;
    ahead_q  <= ahead_d;
    ended_q  <= m_valid_o && m_ready_i && m_last_o;
    if (step_q == SetIdle) cycles_q <= s_set_cycles_i;
    if (step_q == SetRead) shorter_q <= cycles_q <= old;
    if (rst_i) begin
      step_q   <= SetInit;
      class_q  <= '0;
      cycles_q <= 32'(DefaultCycles);
      stored_q <= '0;
      ended_q  <= 1'b0;
    end
  end

  // One copy for frames, one to compare a setting with.
  pst_ram_1r1w #(
      .Width(32),
      .Depth(Classes)
  ) u_wait (
      .clk_i,
      .we_i   (write),
      .waddr_i(class_q),
      .wdata_i(cycles_q),
      .re_i   (taken && first_q),
      .raddr_i(s_class_i),
      .rdata_o(wait_cycles)
  );

  pst_ram_1r1w #(
      .Width(32),
      .Depth(Classes)
  ) u_old (
      .clk_i,
      .we_i   (write),
      .waddr_i(class_q),
      .wdata_i(cycles_q),
      .re_i   (step_q == SetIdle),
      .raddr_i(s_set_class_i),
      .rdata_o(old)
  );

  logic unused;
  assign unused = &{1'b0, ArrivedGiven ? now_i : s_arrived_i};

`ifndef SYNTHESIS
  always_ff @(posedge clk_i) begin
    if (!rst_i) begin
      a_stored_in_range : assert (stored_q != '0 || !fate_i || (ended_q && !refused_i)) else $error("a fate without its frame");
      a_wait_in_range : assert (!s_set_valid_i || s_set_cycles_i[31:30] == '0) else $error("a class may wait for less than 2^30 cycles");
    end
  end
`endif

endmodule
