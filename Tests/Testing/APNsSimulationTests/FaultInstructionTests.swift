import Testing

@testable import APNsSimulation

struct FaultInstructionTests {
  @Test("each line names a device, a fault and how often")
  func readsLines() throws {
    let instructions = try FaultInstruction.parse(
      """
      # trouble for everybody
      *     ServiceUnavailable x3
      *     TooManyRequests after 2 x1

      D4D4  BadDeviceToken   # only this one
      *     delay 1.5
      *     stall
      *     refuse x2
      *     reset
      *     goaway
      *     disconnect
      *     freeze
      """)
    #expect(
      instructions.map(\.fault) == [
        .reject(.serviceUnavailable).times(3),
        .reject(.tooManyRequests, retryAfter: 2).times(1),
        .reject(.badDeviceToken),
        .delay(seconds: 1.5), .stall, .reset(.refusedStream).times(2), .reset(.internalError),
        .goAway, .disconnect, .freeze,
      ])
    #expect(instructions[2].deviceToken == "d4d4")
    #expect(instructions.filter { $0.deviceToken == nil }.count == 9)
  }

  @Test("a token that is gone for good says since when")
  func datesUnregistered() throws {
    let instruction = try #require(try FaultInstruction.parse("* Unregistered").first)
    guard case .reject(.unregistered, let timestamp, _) = instruction.fault.effect else {
      Issue.record("not a rejection: \(instruction.fault)")
      return
    }
    #expect(timestamp != nil)
  }

  @Test(
    "a line that cannot be read is named with what is wrong",
    arguments: [
      ("*", "line 1: the fault is missing after '*'"),
      ("\n* Nonsense", "line 2: 'Nonsense' is neither a reason of APNs"),
      ("* delay", "line 1: 'delay' needs a number of seconds"),
      ("* delay -1", "line 1: 'delay' needs a number of seconds"),
      ("* stall twice", "line 1: 'twice' is not allowed after 'stall'"),
      ("* Shutdown after", "line 1: 'after' needs a number of seconds"),
    ])
  func namesMistakes(text: String, complaint: String) {
    let error = #expect(throws: APNsSimulationError.self) { try FaultInstruction.parse(text) }
    #expect(error?.description.hasPrefix(complaint) ?? false, "\(error?.description ?? "")")
  }
}
