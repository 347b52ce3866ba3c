import CloudKitModel
import Cryptography
import HTTP2Transport
import Testing

@testable import PushChannels

struct APNsProbeTests {
  private func ask(_ answer: @escaping ScriptedAPNs.Answer) async throws -> APNsProbe {
    let apns = try ScriptedAPNs(answer: answer)
    let probe = try await APNsProbe.ask(
      apns.client.configuration, topic: "com.example.app", loop: apns.loop, at: .now)
    let request = try #require(apns.requests.first)
    #expect(request.body.isEmpty, "nobody may get anything")
    #expect(request.path == "/3/device/" + String(repeating: "0", count: 64))
    #expect(request.headers["authorization"]?.hasPrefix("bearer ") == true)
    #expect(request.headers["apns-topic"] == "com.example.app")
    await apns.stop()
    return probe
  }

  @Test(
    "the reason says whether the sender is believed",
    arguments: [
      (400, "BadDeviceToken", "accepted"), (400, "PayloadEmpty", "accepted"),
      (410, "Unregistered", "accepted"), (400, "TopicDisallowed", "key's restrictions"),
      (400, "BadTopic", "bundle ID"), (403, "InvalidProviderToken", "key file"),
      (403, "ExpiredProviderToken", "clock"), (403, "BadCertificate", "certificate"),
      (403, "BadEnvironmentKeyInToken", "environment"),
      (429, "TooManyProviderTokenUpdates", "later"),
      (503, "ServiceUnavailable", "later"), (500, "InternalServerError", "later"),
      (404, "BadPath", "fault of Petrel"),
    ])
  func verdicts(status: Int, reason: String, expected: String) async throws {
    let probe = try await ask { request, _ in
      request.respond(
        status: status, headers: ["date": "Sun, 06 Nov 1994 08:49:37 GMT"],
        body: Array("{\"reason\":\"\(reason)\"}".utf8))
    }
    #expect(probe.status == status && probe.reason == reason)
    #expect(probe.date == "Sun, 06 Nov 1994 08:49:37 GMT")
    switch probe.verdict {
    case .accepted: #expect(expected == "accepted")
    case .undecided: #expect(expected == "later")
    case .refused(let advice): #expect(advice.contains(expected), "\(advice)")
    }
  }

  @Test("without a connection it says why")
  func unreachable() async throws {
    let apns = try ScriptedAPNs()
    var configuration = apns.client.configuration
    await apns.server.stop()
    configuration.connectTimeout = .seconds(5)
    await #expect(throws: HTTP2Error.self) {
      _ = try await APNsProbe.ask(configuration, topic: "a", loop: apns.loop, at: .now)
    }
    await apns.stop()
  }
}
