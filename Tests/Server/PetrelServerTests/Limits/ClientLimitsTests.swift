import CloudKitModel
import Foundation
import JSONCoding
import Testing

@testable import Configuration

struct ClientLimitsTests {
  @Test("server/limits answers everybody the limits of the model and of the configuration")
  func answer() async throws {
    var settings = ServiceSettings()
    settings.limits.subscriptionsPerUser = 7
    settings.limits.privateDatabaseBytes = 5_000_000_000
    settings.limits.requestRates = [
      .user: RequestRate(perSecond: 20.5, burst: 400),
      .address: RequestRate(perSecond: 50, burst: 9),
    ]
    try await withService(settings) { service in
      let answer = try await service.get("server/limits", as: nil)
      #expect(answer.status == 200)
      let limits = try #require(answer.json["limits"])
      func limit(_ name: String) -> String? { limits[name]?.text }
      for known in ServiceLimits.all {
        #expect(limits[known.name]?["value"]?.double == known.value, "\(known)")
        #expect(limits[known.name]?["unit"]?.string == known.unit.rawValue, "\(known)")
      }
      #expect(limit("subscriptionsPerUser") == #"{"unit":"count","value":7}"#)
      #expect(limit("privateDatabaseBytes") == #"{"unit":"bytes","value":5000000000}"#)
      #expect(limit("requestsPerUser") == #"{"unit":"requestsPerSecond","value":20.5}"#)
      #expect(limit("requestsPerUserAtOnce") == #"{"unit":"count","value":400}"#)
      #expect(limit("notificationLogEntries") == #"{"unit":"count","value":10000}"#)
      #expect(limits["publicDatabaseBytes"] == nil)
      #expect(!answer.json.text.contains("ddress"))
      let posted = try await service.post("server/limits", "", as: service.bob)
      #expect(posted.json == answer.json)
    }
  }

  @Test("a limit that the answer names is the one at which the server refuses")
  func enforced() async throws {
    try await withService { service in
      let limits = try await service.get("server/limits", as: nil).json["limits"]
      let count = try #require(limits?["operationsPerRequest"]?["value"]?.int)
      func lookUp(_ names: Int64) async throws -> Answer {
        let records = (0..<names).map { #"{"recordName": "n\#($0)"}"# }.joined(separator: ",")
        return try await service.post(
          "private/records/lookup", #"{"records": [\#(records)]}"#, as: service.alice)
      }
      #expect(try await lookUp(count).status == 200)
      let refused = try await lookUp(count + 1)
      #expect(refused.failure == "400 BAD_REQUEST")
      #expect(refused.json["limit"]?.int == count)
    }
  }

  @Test("each limit of the configuration is told to clients, or is known to be the operator's")
  func configuration() {
    var configuration = ServerConfiguration(dataDirectory: "/none")
    configuration.limits.privateDatabaseBytes = 1
    configuration.limits.publicDatabaseBytes = 1
    configuration.limits.requestRates = Dictionary(
      uniqueKeysWithValues: RequestRate.Subject.allCases.map {
        ($0, RequestRate(perSecond: 1, burst: 1))
      })
    let operators: Set = [
      "undeliveredPushes", "undeliveredPushesPerUser", "clientAddressHeader", "proxies",
      "connectionsPerAddress", "connectionsPerNetwork", "matchingIndexBytes", "searchCacheBytes",
      "waitingPushes",
    ]
    let told = Set(configuration.clientLimits.map(\.name))
    let renamed = ["requestRates": "requestsPerUser"]
    for property in Mirror(reflecting: configuration.limits).children.compactMap(\.label) {
      #expect(
        told.contains(renamed[property] ?? property) != operators.contains(property), "\(property)")
    }
    #expect(
      configuration.clientLimits.map(\.name).filter { $0.hasPrefix("requestsPer") } == [
        "requestsPerUser", "requestsPerUserAtOnce", "requestsPerServerKey",
        "requestsPerServerKeyAtOnce",
      ])
    #expect(told.count == configuration.clientLimits.count)
  }
}
