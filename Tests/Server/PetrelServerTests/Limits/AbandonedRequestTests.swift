import CloudKitModel
import Foundation
import JSONCoding
import PostgreSQLTesting
import Testing
import Waiting

@testable import PetrelServer
@testable import SQLEngine
@testable import Storage

struct AbandonedRequestTests {
  @Test("end in PostgreSQL too, those that wait are not begun, and none counts as failed")
  func leaving() async throws {
    let schema = try await PostgreSQLServer.shared.makeSchema()
    let lines = LogLines()
    var settings = ServiceSettings(log: lines.log)
    settings.postgreSQL = schema.address
    try await withService(settings) { service in
      #expect(try await service.modify(Service.operation("create", "n")).outcomes == ["ok"])
      let holder = try PostgreSQLConnection(to: try PostgreSQLAddress(schema.address))
      defer { holder.close() }
      try holder.execute("BEGIN; LOCK TABLE records IN ACCESS EXCLUSIVE MODE")
      func waiting() throws -> Int64? {
        try holder.first(
          """
          SELECT COUNT(*) FROM pg_locks
          WHERE NOT granted AND relation = to_regclass('records')::oid
          """, []
        ) { $0.integer(0) }
      }
      let target = service.target("public/records/lookup", as: service.alice)
      func ask() throws -> Exchange {
        try service.client.begin(
          "POST", target, body: Data(#"{"records": [{"recordName": "n"}]}"#.utf8))
      }
      let exchanges = try (0..<5).map { _ in try ask() }
      // There are two connections that read.
      try await eventually("two wait for the lock, and the others for them") {
        try waiting() == 2 && service.server.httpMetrics.requestsUnderWay == 5
          && service.store.metrics.waitingReads >= 3
      }
      for exchange in exchanges { exchange.abandon() }
      try await eventually("all are given up") {
        let abandoned = service.store.metrics.abandonedReads
        return abandoned.waiting + abandoned.running == 5
      }
      #expect(try waiting() == 0)
      try holder.execute("ROLLBACK")
      #expect(try await service.lookup("n").outcomes == ["ok"])
      let page = await service.server.metricsPage().text
      let abandoned = service.store.metrics.abandonedReads
      #expect(abandoned.running >= 2)
      #expect(
        page.contains(
          #"petrel_store_reads_abandoned_total{state="running"} \#(abandoned.running)"#))
      #expect(lines.containing("request failed").isEmpty)
      #expect(service.server.requestMetrics.failed.isEmpty)
    }
    try await PostgreSQLServer.shared.drop(schema)
  }

  @Test("a request that takes too long ends, and is told so")
  func tooLong() async throws {
    let schema = try await PostgreSQLServer.shared.makeSchema()
    var settings = ServiceSettings()
    settings.postgreSQL = schema.address
    settings.limits.requestSeconds = 1
    try await withService(settings) { service in
      #expect(try await service.modify(Service.operation("create", "n")).outcomes == ["ok"])
      let holder = try PostgreSQLConnection(to: try PostgreSQLAddress(schema.address))
      defer { holder.close() }
      try holder.execute("BEGIN; LOCK TABLE records IN ACCESS EXCLUSIVE MODE")
      let answer = try await service.lookup("n")
      #expect(answer.failure == "503 TRY_AGAIN_LATER")
      #expect(
        answer.reason
          == "the request took too long, and the server stopped it; request less")
      try holder.execute("ROLLBACK")
      #expect(try await service.lookup("n").outcomes == ["ok"])
    }
    try await PostgreSQLServer.shared.drop(schema)
  }
}
