// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// What the test benches of a package share: contents of frames, random numbers, and the book of what was sent and what came out.
package pst_sim_pkg;

  // A frame of the benches begins with its number, and has a header of IPv4 whose DSCP is a part of that; so it has these bytes at least.
  localparam int unsigned LeastBytes = 18;

  typedef logic [31:0] random_t;  // state of a generator, never 0

  // xorshift of 32 bits (G. Marsaglia): the same numbers in every simulator.
  function automatic random_t scrambled(input random_t state);
    random_t x;
    x = state;
    x ^= x << 13;
    x ^= x >> 17;
    x ^= x << 5;
    return x;
  endfunction

  function automatic random_t seeded(input int unsigned seed, input int unsigned which);
    random_t x;
    x = (seed * 32'd2654435761) ^ (which * 32'd40503) ^ 32'h5bd1_e995;
    return scrambled(x == '0 ? 32'd1 : x);
  endfunction

  // One of `count` numbers from 0 on.
  function automatic int unsigned below(input random_t state, input int unsigned count);
    return int'((64'(state) * 64'(count)) >> 32);
  endfunction

  // Byte `index` of frame `number`.
  function automatic logic [7:0] frame_byte(input int unsigned number, input int unsigned index);
    logic [31:0] x;
    case (index)
      0: return number[31:24];
      1: return number[23:16];
      2: return number[15:8];
      3: return number[7:0];
      12: return 8'h08;  // IPv4
      13: return 8'h00;
      14: return 8'h45;
      15: return {number[5:0], 2'b00};  // DSCP; not ECN-capable, so nothing is marked
      default: begin
        x = (number * 32'h9e37_79b1) + (index * 32'h85eb_ca6b);
        x = (x ^ (x >> 15)) * 32'h2c1b_3c6d;
        return x[23:16];
      end
    endcase
  endfunction

  // Which frames were sent, in which flow, and whether all of them came out: once each, whole, in the order of their flow.
  class book;
    int unsigned sent;
    int unsigned arrived;
    int unsigned dropped;
    longint unsigned sent_bytes;
    longint unsigned arrived_bytes;
    bit may_lose;  // frames of a flow may be missing; they still come in order
    int unsigned flow_of[int unsigned];
    int unsigned length_of[int unsigned];
    int unsigned before_of[int unsigned];  // the frame before it in its flow, 0: none
    int unsigned last_sent[int unsigned];  // by flow
    int unsigned last_arrived[int unsigned];

    function void send(input int unsigned number, input int unsigned flow, input int unsigned bytes);
      flow_of[number] = flow;
      length_of[number] = bytes;
      before_of[number] = last_sent.exists(flow) != 0 ? last_sent[flow] : 0;
      last_sent[flow] = number;
      sent++;
      sent_bytes += 64'(bytes);
    endfunction

    function void arrive(input int unsigned number, input int unsigned flow, input int unsigned bytes);
      int unsigned last;
      if (flow_of.exists(number) == 0) $fatal(1, "FAIL: frame %0d came out and should not have", number);
      if (flow_of[number] != flow)
        $fatal(1, "FAIL: frame %0d came out as one of flow %0d, it is one of %0d", number, flow, flow_of[number]);
      if (length_of[number] != bytes) $fatal(1, "FAIL: frame %0d came out with %0d bytes, it had %0d", number, bytes, length_of[number]);
      last = last_arrived.exists(flow) != 0 ? last_arrived[flow] : 0;
      if (may_lose ? last >= number : last != before_of[number])
        $fatal(1, "FAIL: frame %0d of flow %0d came out after frame %0d", number, flow, last);
      last_arrived[flow] = number;
      arrived++;
      arrived_bytes += 64'(bytes);
    endfunction

    function int unsigned waiting();
      return sent - arrived - dropped;
    endfunction
  endclass

endpackage
