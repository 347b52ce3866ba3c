import CloudKitModel
import Testing

@testable import APNsSimulation

struct SimulatorScriptTests {
  @Test("every key is read, and steps keep their order")
  func readsAll() throws {
    let script = try SimulatorScript(
      parsing: """
        {"streams": 100, "oneStreamFirst": true, "requestsPerConnection": 500, "readDelay": 0.05,
         "providerTokenLifetime": 1800,
         "handshakes": ["refused", "untrusted", "otherHost", "expired"],
         "steps": [
           {"do": "reject", "reason": "ServiceUnavailable", "retryAfter": 2, "times": 3, "after": 7},
           {"do": "reject", "reason": "Unregistered", "timestamp": 1700000000000, "device": "AB"},
           {"do": "answer", "status": 599, "reason": "New"},
           {"do": "delay", "seconds": 1.5}, {"do": "stall"}, {"do": "reset"},
           {"do": "reset", "code": "REFUSED_STREAM", "times": 1},
           {"do": "goAway", "gathers": 10, "answers": 4, "patience": 0.5, "reason": "Shutdown"},
           {"do": "goAway"}, {"do": "disconnect"}, {"do": "freeze"}, {"do": "expireTokens"},
           {"do": "set", "streams": 5, "readDelay": null, "requestsPerConnection": null,
            "after": 50}]}
        """)
    #expect(script.streams == 100)
    #expect(script.startsWithOneStream == true)
    let expected: [APNsFault.Targeted] = [
      .init(.set(.requestsPerConnection(500))),
      .init(.set(.readDelay(seconds: 0.05))),
      .init(.set(.providerTokenLifetime(seconds: 1800))),
      .init(.set(.handshakes([.refused, .untrusted, .otherHost, .expired]))),
      .init(.reject(.serviceUnavailable, retryAfter: 2).times(3).after(7)),
      .init(
        .reject(.unregistered, timestamp: Timestamp(milliseconds: 1_700_000_000_000)), for: "AB"),
      .init(.answer(status: 599, reason: "New")), .init(.delay(seconds: 1.5)), .init(.stall),
      .init(.reset(.internalError)), .init(.reset(.refusedStream).times(1)),
      .init(.goAway(gathering: 10, answering: 4, patience: 0.5, reason: .shutdown)),
      .init(.goAway(gathering: 1, answering: 0)), .init(.disconnect), .init(.freeze),
      .init(.expireTokens), .init(.set(.streams(5)).after(50)),
      .init(.set(.requestsPerConnection(nil))), .init(.set(.readDelay(seconds: nil))),
    ]
    #expect(script.faults.count == expected.count)
    for (fault, wanted) in zip(script.faults, expected) { #expect(fault == wanted) }
  }

  @Test("an empty script changes nothing")
  func empty() throws {
    var configuration = APNsSimulator.Configuration()
    try SimulatorScript(parsing: "{}").apply(to: &configuration)
    #expect(configuration.maximumConcurrentStreams == 1000)
    #expect(!configuration.startsWithOneStream)
    #expect(configuration.script.isEmpty)
  }

  @Test(
    "a mistake is answered with the step, the key and the rule",
    arguments: [
      ("{", "the script is not valid JSON"),
      ("[]", "must be an object, not an array"),
      (#"{"stream": 1}"#, "unknown key 'stream'; known are streams, requestsPerConnection"),
      (#"{"streams": -1}"#, "'streams' must be a whole number from 0 to 100000"),
      (#"{"oneStreamFirst": "y"}"#, "'oneStreamFirst' must be true or false, not a string"),
      (#"{"handshakes": ["bad"]}"#, "handshakes[0]: must be one of refused, untrusted, otherHost"),
      (#"{"handshakes": "refused"}"#, "'handshakes' must be a list, not a string"),
      (#"{"steps": {}}"#, "'steps' must be a list, not an object"),
      (#"{"steps": [1]}"#, "steps[0]: must be an object, not a number"),
      (#"{"steps": [{"do": "stall"}, {"times": 1}]}"#, "steps[1]: 'do' is missing; the steps are"),
      (
        #"{"steps": [{"do": "explode"}]}"#,
        "steps[0]: 'explode' is not a step; the steps are answer"
      ),
      (#"{"steps": [{"do": "stall", "seconds": 1}]}"#, "unknown key 'seconds'; known are do"),
      (#"{"steps": [{"do": "stall", "times": 0}]}"#, "'times' must be a whole number from 1 to"),
      (#"{"steps": [{"do": "delay"}]}"#, "steps[0]: 'seconds' is missing"),
      (#"{"steps": [{"do": "delay", "seconds": "1"}]}"#, "'seconds' must be a number of seconds"),
      (#"{"steps": [{"do": "reject"}]}"#, "steps[0]: 'reason' is missing"),
      (#"{"steps": [{"do": "reject", "reason": "No"}]}"#, "'No' is not a reason of APNs"),
      (#"{"steps": [{"do": "answer"}]}"#, "steps[0]: 'status' is missing"),
      (#"{"steps": [{"do": "reset", "code": "NO"}]}"#, "'NO' is not an error code of HTTP/2"),
      (
        #"{"steps": [{"do": "goAway", "gathers": 2, "answers": 3}]}"#,
        "'answers' must be a whole number from 0 to 2"
      ),
      (#"{"steps": [{"do": "set"}]}"#, "steps[0]: 'set' needs one of streams"),
      (
        #"{"steps": [{"do": "set", "handshakes": [1]}]}"#,
        "steps[0]: handshakes[0]: must be one of refused"
      ),
    ])
  func mistakes(text: String, complaint: String) {
    let error = #expect(throws: APNsSimulationError.self) { try SimulatorScript(parsing: text) }
    #expect(error?.code == .invalidScript)
    #expect(error?.reason.contains(complaint) == true, "\(error?.reason ?? "")")
  }
}
