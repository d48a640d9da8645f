// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// Of each node, what of it waits at its port: so that a lower class of the node does not take what a higher one leaves while it waits there.
//
// A queue has one packet in the hierarchy. While that waits at the port, for instance for the end of a long packet of another node, the node
// finds only lower classes, and would let go of as many of their bytes as its rate allows. These go behind the higher class at the port anyway,
// and are missing when its next packet comes. So a pick at the node does not give a class while a higher one waits above, nor shortly after
// that has left. A node whose pick was refused is held: it is in no wheel, until what it waits for has left or another packet arrives at it.
//
// Of each class the packets that wait at the node's port are counted. A node that moves begins anew at its new port; what still waits at the
// old one counts no more. Each operation of the hierarchy brings one event at most. All of a node is one word, so that nothing comes between
// a look and a change: a wake-up is neither lost nor doubled.
//
// Latency: cycle 0 the node, 3 the event, 4 m_wake_o; a look takes a cycle and sees what is at cycle 4. Throughput: one event and one look per
// cycle. Reset: a walker clears the memories (`Nodes` cycles): nothing waits.
module pst_waits_above
  import pst_hierarchy_pkg::*;
#(
    parameter int unsigned Nodes = 16,         // >= 2
    parameter int unsigned PortWidth = 1,      // bits of a port's number, >= 1
    parameter int unsigned Queues = 64,        // >= 2: no more packets wait
    parameter int unsigned Classes = 4,        // 1 .. 8
    parameter string       RamStyle = "auto",
    localparam int unsigned NodeWidth = $clog2(Nodes)
) (
    input  logic                 clk_i,
    input  logic                 rst_i,
    input  logic [         12:0] now_i,            // cycles, modulo 2^13: one more in each
    // cycle 0
    input  logic                 s_op_valid_i,
    input  logic [NodeWidth-1:0] s_op_node_i,
    // cycle 3
    input  above_e               s_event_i,
    input  class_t               s_event_class_i,
    input  logic [PortWidth-1:0] s_event_port_i,
    // cycle 4: a node that was held is to be looked at
    output logic                 m_wake_valid_o,
    output logic [NodeWidth-1:0] m_wake_node_o,
    // what a pick has to know; in the next cycle
    input  logic [NodeWidth-1:0] s_look_node_i,
    output above_t               m_look_o,
    output logic                 init_done_o
);

  localparam int unsigned CountWidth = $clog2(Queues + 1);

  typedef logic [NodeWidth-1:0] node_t;
  typedef logic [CountWidth-1:0] count_t;

  typedef struct packed {
    count_t [Classes-1:0] counts;        // packets that wait at the port
    logic [PortWidth-1:0] port;          // at this one
    logic                 held;          // the node waits to be woken up,
    class_t               held_class;    // with packets of this class and lower ones
    class_t               left_below;    // class of the packet that left the port last, inverted: none goes before the lowest class
    logic [9:0]           left;          // and when, in eight cycles
  } word_t;

  word_t c3_word, c3_new, c4_word;
  logic [Classes-1:0] c3_is, c3_waited, c3_waits, c3_waits_on;
  logic c3_here, c3_wakes, wake_q, event_q, words_init_done;
  node_t [4:1] node_q;
  above_t c4_above;

  // Of these classes one goes before `cls`.
  function automatic logic higher(logic [Classes-1:0] waits, class_t cls);
    higher = 1'b0;
    for (int c = 0; c < int'(Classes); c++) if (class_t'(c) < cls && waits[c]) higher = 1'b1;
  endfunction

  assign c3_here = c3_word.port == s_event_port_i;

  // Which classes wait is known beside the counts that say so, not after them.
  always_comb begin
    for (int c = 0; c < int'(Classes); c++) begin
      c3_is[c]       = s_event_class_i == class_t'(c);
      c3_waited[c]   = c3_word.counts[c] != '0;
      c3_waits[c]    = c3_is[c] || (c3_here && c3_waited[c]);                        // when one more does,
      c3_waits_on[c] = c3_waited[c] && !(c3_is[c] && c3_word.counts[c] == count_t'(1));    // and when one has left
    end
  end

  always_comb begin
    c3_new   = c3_word;
    c3_wakes = 1'b0;
    case (s_event_i)
      AboveWaits: begin
        c3_new.port = s_event_port_i;
        for (int c = 0; c < int'(Classes); c++) begin
          if (c3_is[c]) c3_new.counts[c] = c3_here ? c3_word.counts[c] + 1'b1 : count_t'(1);
          else if (!c3_here) c3_new.counts[c] = '0;
        end
        c3_wakes = c3_word.held && !higher(c3_waits, c3_word.held_class);
      end
      AboveLeft: if (c3_here) begin
        for (int c = 0; c < int'(Classes); c++) if (c3_is[c] && c3_waited[c]) c3_new.counts[c] = c3_word.counts[c] - 1'b1;
        c3_new.left_below = ~s_event_class_i;
        c3_new.left       = 10'((now_i + 13'd1) >> 3);    // as it is in cycle 4
        c3_wakes = c3_word.held && !higher(c3_waits_on, c3_word.held_class);
      end
      AboveHeld: begin
        c3_new.held       = c3_here && higher(c3_waited, s_event_class_i);
        c3_new.held_class = s_event_class_i;
        c3_wakes          = !c3_new.held;
      end
      AboveArrives: c3_wakes = c3_word.held && (s_event_class_i < c3_word.held_class || !c3_here);
      AboveMoved:   c3_wakes = c3_word.held && !c3_here;
      default: ;
    endcase
    if (c3_wakes) c3_new.held = 1'b0;
  end

  pst_ram_modify #(
      .Width($bits(word_t)), .Depth(Nodes), .Style(RamStyle)
  ) u_words (
      .clk_i, .rst_i,
      .valid_i(s_op_valid_i), .addr_i(s_op_node_i), .word_o(c3_word), .we_i(s_event_i != AboveNone), .word_i(c3_new),
      .word_q_o(c4_word), .init_done_o(words_init_done)
  );

  always_ff @(posedge clk_i) begin
    node_q  <= {node_q[3:1], s_op_node_i};
    event_q <= s_event_i != AboveNone && !rst_i;
    wake_q  <= c3_wakes && !rst_i;
  end

  assign m_wake_valid_o = wake_q;
  assign m_wake_node_o  = node_q[4];

  // --- for picks: which classes wait, and what left last

  logic hit_q, init;
  node_t init_node;
  above_t above, above_q;

  always_comb begin
    c4_above = '0;
    for (int c = 0; c < int'(Classes); c++) c4_above.waits[c] = c4_word.counts[c] != '0;
    c4_above.left_class = ~c4_word.left_below;
    c4_above.left       = c4_word.left;
  end

  always_ff @(posedge clk_i) begin
    hit_q   <= event_q && node_q[4] == s_look_node_i;
    above_q <= c4_above;
  end

  pst_clear_walk #(.Depth(Nodes)) u_clear_walk (.clk_i, .rst_i, .busy_o(init), .addr_o(init_node));

  pst_ram_1r1w #(
      .Width($bits(above_t)), .Depth(Nodes), .Style(RamStyle)
  ) u_above (
      .clk_i,
      .we_i(init || event_q), .waddr_i(init ? init_node : node_q[4]),
      .wdata_i(init ? above_t'{waits: '0, left_class: '1, left: '0} : c4_above),
      .re_i(1'b1), .raddr_i(s_look_node_i), .rdata_o(above)
  );

  assign init_done_o = words_init_done && !init;

  assign m_look_o = hit_q ? above_q : above;

  logic unused;
  assign unused = &{1'b0, c4_word};

`ifndef SYNTHESIS
  always_ff @(posedge clk_i) begin
    if (!rst_i) begin
      if (s_event_i == AboveHeld) a_held_once : assert (!c3_word.held) else $error("node %0d is held twice", node_q[3]);
      if (s_event_i == AboveWaits && c3_here)
        a_waiting_in_range : assert (c3_word.counts[s_event_class_i] != '1) else $error("node %0d: a count wraps", node_q[3]);
    end
  end
`endif

endmodule
