import CloudKitModel
import Cryptography
import Explanation
import Foundation
import JSONCoding
import PushChannels
import Testing
import Waiting

@testable import Configuration
@testable import Storage

struct LimitsTests {
  private func settings(_ change: (inout ServerConfiguration.Limits) -> Void) -> ServiceSettings {
    var settings = ServiceSettings()
    change(&settings.limits)
    return settings
  }

  private func subscription(_ id: String) -> String {
    """
    {"operationType": "create", "subscription": {"subscriptionID": "\(id)",
     "subscriptionType": "query", "firesOn": ["create"], "query": {"recordType": "Note"}}}
    """
  }

  private func subscribe(_ ids: [String], at service: Service) async throws -> [String] {
    let operations = ids.map(subscription).joined(separator: ", ")
    return try await service.post(
      "public/subscriptions/modify", #"{"operations": [\#(operations)]}"#, as: service.alice
    ).outcomes
  }

  private func register(_ number: Int, at service: Service) async throws -> Answer {
    let digits = String(number, radix: 16)
    let token = String(repeating: "0", count: 64 - digits.count) + digits
    return try await service.post(
      "tokens/register", #"{"apnsEnvironment": "development", "apnsToken": "\#(token)"}"#,
      as: service.alice)
  }

  @Test("subscriptions, zones, types and fields beyond them get QUOTA_EXCEEDED in their place")
  func items() async throws {
    let settings = settings {
      $0.subscriptionsPerUser = 2
      $0.zonesPerDatabase = 2
      $0.recordTypesPerContainer = 1
      $0.fieldsPerRecordType = 1
    }
    try await withService(settings) { service in
      #expect(
        try await subscribe(["a", "b", "c"], at: service) == ["ok", "ok", "QUOTA_EXCEEDED"])
      try await service.makeZone("one")
      let zone = try await service.post(
        "private/zones/modify",
        #"{"operations": [{"operationType": "create", "zone": {"zoneID": {"zoneName": "two"}}}]}"#,
        as: service.alice)
      #expect(zone.outcomes == ["QUOTA_EXCEEDED"])
      #expect(zone[0].reason.contains("the limit is 2"), "\(zone.json)")
      func save(_ type: String, _ field: String) async throws -> [String] {
        try await service.modify(
          Service.operation("forceUpdate", "of \(type)", #""\#(field)": {"value": 1}"#, type: type)
        ).outcomes
      }
      #expect(try await save("Note", "a") == ["ok"])
      #expect(try await save("Note", "b") == ["QUOTA_EXCEEDED"])
      #expect(try await save("Other", "a") == ["QUOTA_EXCEEDED"])
      let page = try await service.metrics()
      for line in [
        #"petrel_limit_refusals_total{limit="subscriptionsPerUser"} 1"#,
        #"petrel_limit_refusals_total{limit="zonesPerDatabase"} 1"#,
        #"petrel_limit_refusals_total{limit="recordTypes"} 1"#,
        #"petrel_limit_refusals_total{limit="fieldsPerRecordType"} 1"#,
        #"petrel_limit{limit="subscriptionsPerUser"} 2"#,
        #"petrel_item_failures_total{code="QUOTA_EXCEEDED"} 4"#,
      ] {
        #expect(page.contains(line + "\n"), "\(line) is not in\n\(page)")
      }
    }
  }

  @Test("the public database has its own quota, for records and for uploads")
  func publicDatabase() async throws {
    try await withService(settings { $0.publicDatabaseBytes = 5_000 }) { service in
      let text = #""text": {"value": "\#(String(repeating: "x", count: 3_000))"}"#
      func save(_ name: String, in database: String) async throws -> [String] {
        try await service.modify(
          Service.operation("forceUpdate", name, text), in: database
        ).outcomes
      }
      #expect(try await save("a", in: "public") == ["ok"])
      #expect(try await save("b", in: "public") == ["QUOTA_EXCEEDED"])
      #expect(try await save("a", in: "private") == ["ok"])
      #expect(try await save("b", in: "private") == ["ok"])
      let upload = try await service.post(
        "public/assets/upload",
        #"{"tokens": [{"recordName": "n", "recordType": "Note", "fieldName": "file"}]}"#,
        as: service.alice)
      let url = try #require(upload.json["tokens"]?.array?.first?["url"]?.string)
      let path = try #require(URLComponents(string: url)?.path)
      let large = try await service.client.send("POST", path, body: Data(count: 2_500))
      #expect(large.failure == "413 QUOTA_EXCEEDED")
      _ = try await service.modify(Service.operation("forceDelete", "a"))
      #expect(try await save("b", in: "public") == ["ok"])
    }
  }

  @Test("a device beyond them gets 413, one that the user has is registered again")
  func devices() async throws {
    let settings = settings {
      $0.apnsDevicesPerUser = 2
      $0.courierReadersPerUser = 1
    }
    try await withService(settings) { service in
      for number in [1, 2, 1] {
        #expect(try await register(number, at: service).status == 200)
      }
      let refused = try await register(3, at: service)
      #expect(refused.failure == "413 QUOTA_EXCEEDED")
      #expect(refused.json["limit"] == .int(2))
      #expect(refused.reason.contains("the user already has 2 devices"), "\(refused.reason)")
      _ = try await service.makeReader(as: service.alice)
      let reader = try await service.post(
        "tokens/create", #"{"apnsEnvironment": "development"}"#, as: service.alice)
      #expect(reader.failure == "413 QUOTA_EXCEEDED")
      _ = try await service.makeReader(as: service.bob)
      // Twelve hours later it has expired.
      service.clock.advance(bySeconds: 12 * 3600 + 1)
      _ = try await service.makeReader(as: service.alice)
      let page = try await service.metrics()
      for kind in ["apnsDevicesPerUser", "courierReadersPerUser"] {
        let line = #"petrel_limit_refusals_total{limit="\#(kind)"} 1"#
        #expect(page.contains(line + "\n"), "\(line) is not in\n\(page)")
      }
    }
  }

  // MARK: The attack

  /// 400 subscriptions and 100 made-up device tokens of one user, and a save of five records.
  private func attack(_ service: Service) async throws {
    for batch in 0..<2 {
      let outcomes = try await subscribe((0..<200).map { "s\(batch)-\($0)" }, at: service)
      #expect(Set(outcomes) == ["ok"])
    }
    var refused = 0
    for number in 0..<100 {
      let answer = try await register(number, at: service)
      if answer.failure == "413 QUOTA_EXCEEDED" { refused += 1 }
    }
    #expect(refused == 50)
    let operations = (0..<5).map { Service.operation("create", "r\($0)") }
    let answer = try await service.post(
      "public/records/modify", #"{"operations": [\#(operations.joined(separator: ", "))]}"#,
      as: service.bob)
    #expect(answer.outcomes == Array(repeating: "ok", count: 5))
    try await eventually("all is dispatched", within: .seconds(120)) {
      service.server.dispatchMetrics.loggedNotifications == 2_000
    }
  }

  private func deliveryRows(_ service: Service) async throws -> Int64 {
    try await service.store.transactions.read {
      try $0.connection.first("SELECT COUNT(*) FROM deliveries", []) { $0.integer(0) } ?? 0
    }
  }

  @Test(
    "400 subscriptions and 100 tokens make no rows where APNs is not set up, and explain says so")
  func attackWithoutAPNs() async throws {
    try await withService { service in
      try await attack(service)
      #expect(try await deliveryRows(service) == 0)
      let bytes = try #require(await service.store.fileSizes())
      #expect(bytes.database + (bytes.writeAheadLog ?? 0) < 12 << 20)
      let change = try await service.explain("r0") { !$0.notifications.isEmpty }
      let silent = try #require(change.notifications.first?.silentDevices.first)
      #expect(silent.code == .notSetUp)
      #expect(
        silent.text
          == "the configuration had no 'containers.\(Service.container).apns' when the notification was "
          + "logged, so nothing was queued for the APNs device; add it on each server"
      )
      let page = try await service.metrics()
      #expect(page.contains("petrel_deliveries_unwritten_total{reason=\"not_set_up\"} 100000\n"))
    }
  }

  @Test("400 subscriptions and 100 tokens make no more rows than may wait for a user")
  func attackWithAPNs() async throws {
    try await withServiceOfUnreachableAPNs { service in
      try await attack(service)
      let rows = try await deliveryRows(service)
      #expect(rows == 10_000)
      let bytes = try #require(await service.store.fileSizes())
      #expect(bytes.database + (bytes.writeAheadLog ?? 0) < 64 << 20)
      let page = try await service.metrics()
      #expect(page.contains("petrel_deliveries_unwritten_total{reason=\"user_limit\"} 90000\n"))
      let change = try await service.explain("r4") { !$0.notifications.isEmpty }
      let reasons = change.notifications.flatMap(\.silentDevices)
      let limited = try #require(reasons.first { $0.code == .tooManyWaiting })
      #expect(limited.text.contains("'limits.undeliveredPushesPerUser'"), "\(limited.text)")
      let log = try await service.post("notifications/changes", "{}", as: service.alice)
      #expect(log.json["notifications"]?.array?.isEmpty == false, "the log is complete")
    }
  }
}

/// Runs `body` with a server whose pushes to APNs all wait: nobody listens where they go.
func withServiceOfUnreachableAPNs(
  topics: [String] = ["com.example.app"], _ body: (Service) async throws -> Void
) async throws {
  let folder = NSTemporaryDirectory() + "petrel-apns-" + UUID().uuidString
  try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
  defer { try? FileManager.default.removeItem(atPath: folder) }
  try ES256PrivateKey().pem.write(toFile: folder + "/key.p8", atomically: true, encoding: .utf8)
  var settings = ServiceSettings()
  settings.containers[Service.container] = .init(
    channels: ChannelSettings {
      $0.apns = APNsSettings(
        topics: topics,
        credential: .key(file: folder + "/key.p8", keyID: "KEY1234567", teamID: "TEAM123456"),
        host: "127.0.0.1", port: 1)
    })
  try await withService(settings, body)
}
