import Foundation
import JSONCoding
import OutboundHTTP
import PythonPrograms
import Storage
import Testing
import Waiting

@testable import PetrelServer

/// From the saved record to a program in Python that checks the signature.
@Suite(.serialized, .enabled(if: Python.isInstalled))
struct WebhookDeliveryTests {
  private func withReceiver(
    _ statuses: [Int] = [],
    _ body: (Service, ServerKeyClient, WebhookReceiver) async throws -> Void
  ) async throws {
    let receiver = try await WebhookReceiver(statuses: statuses)
    defer { receiver.stop() }
    var settings = ServiceSettings()
    var webhooks = ServerConfiguration.Webhooks()
    webhooks.outbound.allowedNetworks = ["127.0.0.0/8"].compactMap(IPNetwork.init)
    webhooks.outbound.allowsHTTP = true
    settings.webhooks = webhooks
    try await withService(settings) { service in
      let program = try await ServerKeyClient(service)
      let made = try await program.post(
        "webhooks/register", #"{"url": "\#(receiver.url)"}"#)
      try receiver.expect(secret: try #require(made.json["secret"]?.string, "\(made.json)"))
      let answer = try await program.post(
        "public/subscriptions/modify",
        """
        {"operations": [{"operationType": "create", "subscription": {
          "subscriptionID": "notes", "subscriptionType": "query", "firesOn": ["create"],
          "query": {"recordType": "Note"}}}]}
        """)
      try #require(answer.status == 200, "\(answer.json)")
      try await body(service, program, receiver)
    }
  }

  private func save(_ name: String, at service: Service) async throws {
    let answer = try await service.modify(Service.operation("create", name))
    try #require(answer.status == 200, "\(answer.json)")
  }

  private func wait(_ count: Int, at receiver: WebhookReceiver) async throws -> [JSONValue] {
    try await eventually("\(count) messages come") { receiver.messages.count >= count }
    return receiver.messages
  }

  @Test("a saved record is posted, signed; a silent one as well, and none is merged")
  func arrives() async throws {
    try await withReceiver { service, _, receiver in
      for number in 0..<20 { try await save("N\(number)", at: service) }
      let messages = try await wait(20, at: receiver)
      #expect(messages.allSatisfy { $0["verified"] == true })
      let names = messages.compactMap { $0["value"]?["ck"]?["qry"]?["rid"]?.string }
      #expect(Set(names) == Set((0..<20).map { "N\($0)" }))
      #expect(Set(messages.compactMap { $0["id"]?.string }).count == 20)
    }
  }

  @Test("what the receiver could not take is posted again, with the same ID")
  func retried() async throws {
    try await withReceiver([500, 301]) { service, _, receiver in
      try await save("A", at: service)
      let messages = try await wait(3, at: receiver)
      #expect(messages.map { $0["status"]?.int } == [500, 301, 204])
      #expect(Set(messages.compactMap { $0["id"]?.string }).count == 1)
      #expect(messages.allSatisfy { $0["verified"] == true && $0["path"] == "/hook" })
    }
  }

  @Test("410 removes the webhook")
  func gone() async throws {
    try await withReceiver([410]) { service, program, receiver in
      try await save("A", at: service)
      _ = try await wait(1, at: receiver)
      try await eventually("the webhook is removed") {
        try await program.post("webhooks/list", "{}").json["webhooks"]?.array == []
      }
    }
  }

  @Test("what is owed survives a restart of the server")
  func restart() async throws {
    try await withReceiver([503, 503]) { service, _, receiver in
      try await save("A", at: service)
      _ = try await wait(1, at: receiver)
      try await service.restart()
      let messages = try await wait(3, at: receiver)
      #expect(messages.last?["status"] == 204)
      #expect(messages.last?["verified"] == true)
      #expect(Set(messages.compactMap { $0["id"]?.string }).count == 1)
    }
  }
}
