import CloudKitModel
import Foundation
import JSONCoding
import PushChannels
import Testing

@testable import PetrelServer

struct WebhooksTests {
  private static func settings(webhooks: Int = 2) -> ServiceSettings {
    var settings = ServiceSettings()
    settings.webhooks = WebhookSettings()
    settings.webhooks?.webhooksPerKey = webhooks
    return settings
  }

  @Test("a key registers a URL, is shown its secret once, sees it in its list and deletes it")
  func life() async throws {
    try await withService(Self.settings()) { service in
      let program = try await ServerKeyClient(service)
      let made = try await program.post(
        "webhooks/register", #"{"url": "https://hooks.example.com/a"}"#)
      #expect(made.status == 200, "\(made.json)")
      let secret = try #require(made.json["secret"]?.string)
      #expect(secret.hasPrefix("whsec_"))
      #expect(Data(base64Encoded: String(secret.dropFirst(6)))?.count == 32)
      let id = try #require(made.json["webhookId"]?.string)

      let list = try await program.post("webhooks/list", "{}")
      #expect(list.json["webhooks"]?.array?.count == 1)
      let first = list.json["webhooks"]?.array?.first
      #expect(first?["webhookId"]?.string == id)
      #expect(first?["url"] == "https://hooks.example.com/a")
      #expect(first?["registered"]?.int != nil)
      #expect(!list.json.text.contains("secret"))

      let device = try #require(
        try await service.store.devices.deviceTokens(of: program.key.userRecordName).first)
      #expect(device.kind == .webhook)
      #expect(device.container == Service.container)

      let delete = #"{"webhookId": "\#(id)"}"#
      #expect(try await program.post("webhooks/delete", delete).status == 200)
      #expect(try await program.post("webhooks/list", "{}").json["webhooks"]?.array == [])
      let again = try await program.post("webhooks/delete", delete)
      #expect(again.status == 404)
      #expect(again.reason.contains("webhookId: the key has no webhook"))
    }
  }

  @Test("a URL that is registered again keeps its ID and gets another secret")
  func newSecret() async throws {
    try await withService(Self.settings(webhooks: 1)) { service in
      let program = try await ServerKeyClient(service)
      let body = #"{"url": "https://hooks.example.com/a"}"#
      let first = try await program.post("webhooks/register", body)
      let second = try await program.post("webhooks/register", body)
      #expect(second.status == 200)
      #expect(first.json["webhookId"] == second.json["webhookId"])
      #expect(first.json["secret"] != second.json["secret"])
    }
  }

  @Test("webhooks of one key are none of another's, also with the same URL")
  func separateKeys() async throws {
    try await withService(Self.settings()) { service in
      let one = try await ServerKeyClient(service)
      let other = try await ServerKeyClient(service)
      let body = #"{"url": "https://hooks.example.com/a"}"#
      let made = try await one.post("webhooks/register", body)
      let id = try #require(made.json["webhookId"]?.string)
      #expect(try await other.post("webhooks/list", "{}").json["webhooks"]?.array == [])
      let deletion = try await other.post("webhooks/delete", #"{"webhookId": "\#(id)"}"#)
      #expect(deletion.status == 404)
      let second = try await other.post("webhooks/register", body)
      #expect(second.json["webhookId"]?.string != id)
      #expect(try await one.post("webhooks/list", "{}").json["webhooks"]?.array?.count == 1)
    }
  }

  @Test("a key has so many webhooks and no more")
  func limit() async throws {
    try await withService(Self.settings()) { service in
      let program = try await ServerKeyClient(service)
      for (number, status) in [200, 200, 400].enumerated() {
        let answer = try await program.post(
          "webhooks/register", #"{"url": "https://hooks.example.com/\#(number)"}"#)
        #expect(answer.status == status)
        if status == 400 { #expect(answer.json["limit"] == 2) }
      }
    }
  }

  @Test("a revoked key's webhooks are gone")
  func revoked() async throws {
    try await withService(Self.settings()) { service in
      let program = try await ServerKeyClient(service)
      _ = try await program.post("webhooks/register", #"{"url": "https://hooks.example.com/a"}"#)
      #expect(try await service.store.credentials.revokeServerKey(program.key.keyID, at: .now))
      #expect(try await service.store.devices.deviceTokens(of: program.key.userRecordName).isEmpty)
      #expect(
        try await service.store.credentials.revokeServerKey(program.key.keyID, at: .now) == false)
    }
  }

  @Test(
    "a URL that may not be posted to is refused with its rule",
    arguments: [
      (#"{"url": "http://hooks.example.com/"}"#, "url: must begin with https://"),
      (#"{"url": "https://10.0.0.1/"}"#, "url: contains the address 10.0.0.1"),
      (#"{"url": "https://169.254.169.254/"}"#, "url: contains the address 169.254.169.254"),
      (#"{"url": "https://a:b@hooks.example.com/"}"#, "url: must not have a user name"),
      (#"{"url": 7}"#, "url: must be a string"),
      ("{}", "'url' is missing"),
    ])
  func badURLs(_ body: String, reason: String) async throws {
    try await withService(Self.settings()) { service in
      let program = try await ServerKeyClient(service)
      let answer = try await program.post("webhooks/register", body)
      #expect(answer.status == 400)
      #expect(answer.reason.contains(reason), "\(answer.reason)")
    }
  }

  @Test("users have no webhooks, and nobody has any where they are not set up")
  func notAllowed() async throws {
    try await withService(Self.settings()) { service in
      for operation in ["webhooks/register", "webhooks/list", "webhooks/delete"] {
        let answer = try await service.post(
          operation, #"{"url": "https://hooks.example.com/"}"#, as: service.alice)
        #expect(answer.status == 403)
        #expect(answer.reason.contains("for programs with a server-to-server key"))
      }
    }
    try await withService { service in
      let program = try await ServerKeyClient(service)
      let answer = try await program.post(
        "webhooks/register", #"{"url": "https://hooks.example.com/"}"#)
      #expect(answer.status == 400)
      #expect(answer.reason.contains("webhooks are not set up here"))
    }
  }
}
