import Foundation
import JSONCoding
import OutboundHTTP
import PushChannels
import PythonPrograms
import Settings
import Testing
import Waiting

@testable import PetrelServer

/// From the saved record to a program in Python that checks the signature.
@Suite(.serialized, .enabled(if: Python.isInstalled))
struct WebhookDeliveryTests {
  private func withReceiver(
    _ statuses: [Int] = [], strings: AppStringsSettings? = nil,
    notificationInfo: String? = nil,
    _ body: (Service, ServerKeyClient, WebhookReceiver) async throws -> Void
  ) async throws {
    let receiver = try await WebhookReceiver(statuses: statuses)
    defer { receiver.stop() }
    var settings = ServiceSettings()
    var webhooks = WebhookSettings()
    webhooks.outbound.allowedNetworks = ["127.0.0.0/8"].compactMap(IPNetwork.init)
    webhooks.outbound.allowsHTTP = true
    settings.webhooks = webhooks
    if let strings {
      settings.containers = [
        Service.container: .init(channels: ChannelSettings { $0.strings = strings })
      ]
    }
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
          "query": {"recordType": "Note"}
          \(notificationInfo.map { #", "notificationInfo": \#($0)"# } ?? "")}}]}
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

  private static let localizedInfo = """
    {"alertLocalizationKey": "NEW_%@", "alertLocalizationArgs": ["title"],
     "titleLocalizationKey": "TITLE", "alertActionLocalizationKey": "OPEN"}
    """

  private func withStrings(_ body: (URL) async throws -> Void) async throws {
    let folder = URL(fileURLWithPath: NSTemporaryDirectory())
      .appendingPathComponent("petrel-strings-" + UUID().uuidString)
    let files = [
      "en": "\"NEW_%@\" = \"New: %@\"; OPEN = Open;", "de": "\"NEW_%@\" = \"Neu: %@\";",
    ]
    for (language, text) in files {
      let table = folder.appendingPathComponent("\(language).lproj")
      try FileManager.default.createDirectory(at: table, withIntermediateDirectories: true)
      try Data(text.utf8).write(to: table.appendingPathComponent("Localizable.strings"))
    }
    defer { try? FileManager.default.removeItem(at: folder) }
    try await body(folder)
  }

  private func save(_ name: String, title: String, at service: Service) async throws {
    let answer = try await service.modify(
      Service.operation("create", name, #""title": {"value": "\#(title)"}"#))
    try #require(answer.status == 200, "\(answer.json)")
  }

  @Test("the text of a localised alert stands beside its key, in the container's language")
  func localized() async throws {
    try await withStrings { folder in
      let strings = AppStringsSettings(folder: folder, languages: ["de-AT"])
      try await withReceiver(strings: strings, notificationInfo: Self.localizedInfo) {
        service, _, receiver in
        try await save("A", title: "Milch", at: service)
        let first = try await wait(1, at: receiver)[0]["value"]?["aps"]?["alert"]
        #expect(
          first == [
            "title-loc-key": "TITLE", "body": "Neu: Milch", "loc-key": "NEW_%@",
            "loc-args": ["Milch"], "action": "Open", "action-loc-key": "OPEN",
          ])
      }
    }
  }

  @Test("without the app's strings a localised alert has its key alone")
  func notLocalized() async throws {
    try await withReceiver(notificationInfo: Self.localizedInfo) { service, _, receiver in
      try await save("A", title: "Milch", at: service)
      let alert = try await wait(1, at: receiver)[0]["value"]?["aps"]?["alert"]
      #expect(
        alert == [
          "title-loc-key": "TITLE", "loc-key": "NEW_%@", "loc-args": ["Milch"],
          "action-loc-key": "OPEN",
        ])
    }
  }

  @Test("strings that changed count after a reload, and those that cannot be read change nothing")
  func reloaded() async throws {
    try await withStrings { folder in
      let strings = AppStringsSettings(folder: folder)
      try await withReceiver(strings: strings, notificationInfo: Self.localizedInfo) {
        service, _, receiver in
        let file = folder.appendingPathComponent("en.lproj/Localizable.strings")
        try Data("\n\"NEW_%@\"".utf8).write(to: file)
        let error = #expect(throws: ConfigurationError.self) {
          _ = try service.server.reload(service.configuration)
        }
        #expect(
          error?.description
            == "containers: \(Service.container): strings: \(file.path):2: "
            + "a ';' is missing behind 'NEW_%@'")
        try await save("A", title: "milk", at: service)
        let before = try await wait(1, at: receiver)[0]["value"]?["aps"]?["alert"]
        #expect(before?["body"] == "New: milk")

        try Data("\"NEW_%@\" = \"Fresh: %@\";".utf8).write(to: file)
        #expect(
          try service.server.reload(service.configuration) == ["connections to webhooks"])
        #expect(try service.server.reload(service.configuration) == [])
        try await save("B", title: "bread", at: service)
        let after = try await wait(2, at: receiver)[1]["value"]?["aps"]?["alert"]
        #expect(after?["body"] == "Fresh: bread")
      }
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
