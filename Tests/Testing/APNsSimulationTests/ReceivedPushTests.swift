import CloudKitModel
import Foundation
import JSONCoding
import Testing

@testable import APNsSimulation

struct ReceivedPushTests {
  private let push = ReceivedPush(
    time: Timestamp(milliseconds: 1_767_225_600_123), connection: 2, method: "POST",
    path: "/3/device/0a0b0c0d0e0f0a0b0c0d", deviceToken: "0a0b0c0d0e0f0a0b0c0d",
    headers: [
      "apns-topic": "com.example.app", "apns-push-type": "alert", "apns-priority": "10",
    ],
    payload: #"{"aps":{"alert":"Bula \"vinaka\"\n"},"a":1.50}"#, status: 200)

  @Test("comes back from its JSON line")
  func roundTrip() throws {
    var pushes = [push]
    var rejected = push
    rejected.status = 410
    rejected.reason = "Unregistered"
    rejected.note = "fault"
    rejected.time = Timestamp(milliseconds: 1_767_225_600_000)
    pushes.append(rejected)
    var broken = push
    broken.status = nil
    broken.deviceToken = nil
    broken.payload = "not\u{0} JSON\r\n\u{2028}"
    pushes.append(broken)
    for push in pushes {
      let line = push.jsonLine
      #expect(!line.contains("\n") && !line.contains("\r"))
      #expect(try ReceivedPush(jsonLine: line) == push)
    }
  }

  @Test("has the payload as JSON in its line, where it is JSON")
  func payload() throws {
    let line = try JSONValue(parsing: push.jsonLine)
    #expect(line["payload"]?["aps"]?["alert"] == "Bula \"vinaka\"\n")
    #expect(line["time"] == "2026-01-01T00:00:00.123Z")
    var broken = push
    broken.payload = "{"
    #expect(try JSONValue(parsing: broken.jsonLine)["payload"] == nil)
  }

  @Test("refuses lines that are something else, naming the member")
  func refuses() {
    for (line, word) in [
      ("{", "not valid JSON"), ("{}", "'time'"), (#"{"time":"x"}"#, "'time'"),
      (#"{"time":"2026-01-01T00:00:00Z"}"#, "'connection'"),
    ] {
      #expect {
        try ReceivedPush(jsonLine: line)
      } throws: { error in
        (error as? APNsSimulationError)?.reason.contains(word) ?? false
      }
    }
  }

  @Test("reads well")
  func description() {
    #expect(
      push.description == """
        2026-01-01T00:00:00.123Z  200  alert, priority 10, com.example.app → 0a0b0c0d0e0f…
            \(push.payload)
        """)
    var rejected = push
    rejected.status = 400
    rejected.reason = "BadPath"
    rejected.note = "the path is wrong"
    rejected.deviceToken = nil
    rejected.headers = [:]
    rejected.payload = ""
    #expect(
      rejected.description
        == "2026-01-01T00:00:00.123Z  400 BadPath  no push type, no topic → no device "
        + "(the path is wrong)")
  }

  @Test("does not give a usable provider token away")
  func authorization() throws {
    let now = Timestamp(milliseconds: 1_767_225_600_000)
    let fixture = try RequestFixture()
    let request = try fixture.request(now: now)
    let push = ReceivedPush(request, connection: 1, time: now)
    let parts = try #require(request[header: "authorization"]).split(separator: ".")
    #expect(push.headers["authorization"] == "\(parts[0]).\(parts[1]).…")
    let odd = try fixture.request(now: now) { $0.set("authorization", "bearer secret") }
    #expect(ReceivedPush(odd, connection: 1, time: now).headers["authorization"] == "…")
  }
}
