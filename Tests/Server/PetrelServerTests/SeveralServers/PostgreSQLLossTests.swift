import Foundation
import JSONCoding
import PostgreSQLTesting
import ProxySimulation
import Synchronization
import Testing
import Waiting

@testable import PetrelServer

struct PostgreSQLLossTests {
  /// The server has the store in a PostgreSQL that the test may stop.
  private func withService(
    _ body: (Service, PostgreSQLServer) async throws -> Void
  ) async throws {
    try await PostgreSQLServer.withServer { postgreSQL in
      var settings = ServiceSettings()
      settings.postgreSQL = try await postgreSQL.makeSchema().address
      try await PetrelServerTests.withService(settings) { try await body($0, postgreSQL) }
    }
  }

  private static let subscription = """
    {"subscriptionType": "query", "subscriptionID": "all", "firesOn": ["create"],
     "query": {"recordType": "Note"}}
    """

  @Test("asks clients to come again, calls itself not ready, and goes on when it is back")
  func outage() async throws {
    try await withService { service, postgreSQL in
      #expect(try await service.modify(Service.operation("create", "before")).outcomes == ["ok"])
      #expect(try await service.client.send("GET", "/health/ready").status == 200)
      try await postgreSQL.stop()
      let failed = try await service.modify(Service.operation("create", "during"))
      #expect(failed.failure == "503 TRY_AGAIN_LATER", "\(failed.json)")
      #expect(failed.headers["retry-after"] == "2")
      let read = try await service.lookup("before")
      #expect(read.failure == "503 TRY_AGAIN_LATER", "\(read.json)")
      let ready = try await service.client.send("GET", "/health/ready")
      #expect(ready.status == 503)
      let trouble = ready.json["checks"]?["store"]?.string ?? ""
      #expect(trouble.contains("cannot be reached") || trouble.contains("is lost"), "\(trouble)")
      try await postgreSQL.startAgain()
      try await eventually("the server is ready again") {
        try await service.client.send("GET", "/health/ready").status == 200
      }
      #expect(try await service.modify(Service.operation("create", "after")).outcomes == ["ok"])
      #expect(try await service.lookup("before", "after").outcomes == ["ok", "ok"])
    }
  }

  /// The server reaches PostgreSQL through a proxy, which can hold all bytes as a network does that
  /// loses them. The server gets no report of it.
  private func withProxy(_ body: (Service, HoldingProxy) async throws -> Void) async throws {
    let schema = try await PostgreSQLServer.shared.makeSchema()
    let proxy = try HoldingProxy(to: .socket(path: try await PostgreSQLServer.shared.socket))
    defer { proxy.close() }
    var settings = ServiceSettings()
    settings.postgreSQL = schema.address(overPort: proxy.port)
    try await PetrelServerTests.withService(settings) { service in
      try await service.restart {
        $0.tuning.silenceMilliseconds = 200
        $0.tuning.probeMilliseconds = 800
      }
      try await body(service, proxy)
      proxy.release()
      try await eventually("the server is ready again") {
        try await service.client.send("GET", "/health/ready").status == 200
      }
    }
    try await PostgreSQLServer.shared.drop(schema)
  }

  private static func silence(_ proxy: HoldingProxy) {
    for direction in HoldingProxy.Direction.allCases { proxy.hold(direction) }
  }

  @Test("asks clients to come again when all that it sends is lost, and goes on by itself")
  func silence() async throws {
    try await withProxy { service, proxy in
      #expect(try await service.modify(Service.operation("create", "before")).outcomes == ["ok"])
      Self.silence(proxy)
      // Each of these would wait for the release, which comes after them.
      try await withThrowingTaskGroup(of: Void.self) { group in
        for number in 0..<40 {
          group.addTask {
            let answer =
              number % 2 == 0
              ? try await service.modify(Service.operation("create", "during\(number)"))
              : try await service.lookup("before")
            #expect(answer.failure == "503 TRY_AGAIN_LATER", "\(answer.json)")
            #expect(answer.headers["retry-after"] == "2")
          }
        }
        try await group.waitForAll()
      }
      proxy.release()
      try await eventually("the server is ready again") {
        try await service.client.send("GET", "/health/ready").status == 200
      }
      #expect(try await service.modify(Service.operation("create", "after")).outcomes == ["ok"])
      #expect(try await service.lookup("before", "after").outcomes == ["ok", "ok"])
    }
  }

  @Test("calls itself not ready while nothing answers, although it has just written")
  func readiness() async throws {
    try await withProxy { service, proxy in
      #expect(try await service.client.send("GET", "/health/ready").status == 200)
      Self.silence(proxy)
      try await eventually("the server is not ready") {
        try await service.client.send("GET", "/health/ready").status == 503
      }
      let ready = try await service.client.send("GET", "/health/ready")
      let trouble = ready.json["checks"]?["store"]?.string ?? ""
      #expect(trouble.contains("did not answer within"), "\(trouble)")
    }
  }

  @Test("does not fail a request when connections were cut while nothing was under way")
  func cutWhenIdle() async throws {
    try await withService { service, postgreSQL in
      for name in ["a", "b", "c"] {
        try await postgreSQL.cutConnections()
        #expect(try await service.modify(Service.operation("create", name)).outcomes == ["ok"])
        #expect(try await service.lookup(name).outcomes == ["ok"])
      }
    }
  }

  private final class Tally: Sendable {
    let acknowledged = Mutex<Set<String>>([])
    let refusals = Mutex(0)
    let isOver = Mutex(false)
  }

  @Test("loses nothing that was acknowledged under load, and notifies of each record once")
  func load() async throws {
    try await withService { service, postgreSQL in
      try await service.subscribe(Self.subscription)
      let tally = Tally()
      try await withThrowingTaskGroup(of: Void.self) { group in
        for writer in 0..<6 {
          group.addTask {
            var number = 0
            while !tally.isOver.withLock({ $0 }) {
              let name = "w\(writer)-\(number)"
              number += 1
              while true {
                let answer = try await service.modify(
                  Service.operation("create", name), atomic: false)
                // One that was in doubt may be there already when it is sent again.
                if ["ok", "EXISTS"].contains(answer.outcomes.first) { break }
                // One whose commit had no answer is in doubt, and called so.
                try #require(
                  ["503 TRY_AGAIN_LATER", "500 SERVER_RESPONSE_LOST"].contains(answer.failure),
                  "\(answer.json)")
                try #require(answer.headers["retry-after"] != nil)
                tally.refusals.withLock { $0 += 1 }
              }
              tally.acknowledged.withLock { _ = $0.insert(name) }
            }
          }
        }
        group.addTask {
          defer { tally.isOver.withLock { $0 = true } }
          for step in 0..<4 {
            let before = tally.acknowledged.withLock(\.count)
            try await eventually("records are saved") {
              tally.acknowledged.withLock(\.count) >= before + 60
            }
            if step == 3 { break }
            if step == 1 {
              try await postgreSQL.cutConnections()
            } else {
              try await postgreSQL.restart()
            }
          }
        }
        try await group.waitForAll()
      }
      let names = tally.acknowledged.withLock { $0.sorted() }
      #expect(tally.refusals.withLock { $0 } > 0)
      for start in stride(from: 0, to: names.count, by: 100) {
        let part = Array(names[start..<min(start + 100, names.count)])
        let records = part.map { #"{"recordName": "\#($0)"}"# }.joined(separator: ", ")
        let found = try await service.post(
          "public/records/lookup", #"{"records": [\#(records)]}"#, as: service.alice)
        #expect(Set(found.outcomes) == ["ok"] && found.items.map(\.name) == part)
      }
      try await eventually("all are notified of") {
        try await Self.notified(service).count >= names.count
      }
      #expect(try await Self.notified(service).sorted() == names)
    }
  }

  /// The records that the log has notifications of, as often as it has them.
  private static func notified(_ service: Service) async throws -> [String] {
    var names: [String] = []
    var token = ""
    while true {
      let page = try await service.post(
        "notifications/changes", token.isEmpty ? "{}" : #"{"syncToken": "\#(token)"}"#,
        as: service.alice)
      try #require(page.status == 200, "\(page.json)")
      names += page.items.compactMap { $0["ck"]?["qry"]?["rid"]?.string }
      guard page.json["moreComing"] == true else { return names }
      token = page.json["syncToken"]?.string ?? ""
    }
  }
}
