import CloudKitModel
import Foundation
import JSONCoding
import PythonPrograms
import Storage
import Testing
import Waiting

@testable import PetrelServer

struct HealthTests {
  @Test("a server that does its work lives and is ready")
  func healthy() async throws {
    try await withService { service in
      let live = try await service.client.send("GET", "/health/live")
      #expect(live.status == 200)
      #expect(live.json == .object(["status": "ok", "checks": .object(["writer": "ok"])]))
      let ready = try await service.client.send("GET", "/health/ready")
      #expect(ready.status == 200 && ready.json["status"] == "ok")
      for check in ["serving", "store", "disk", "dispatch"] {
        #expect(ready.json["checks"]?[check] == "ok")
      }
      let unknown = try await service.client.send("GET", "/health/well")
      #expect(unknown.status == 404)
    }
  }

  @Test("a server that is about to stop is not ready, and answers still")
  func draining() async throws {
    try await withService { service in
      service.server.drain()
      let ready = try await service.client.send("GET", "/health/ready")
      #expect(ready.status == 503)
      #expect(ready.json["checks"]?["serving"] == "failing: the server is about to stop")
      #expect(ready.json["checks"]?["store"] == "ok")
      let stranger = try await service.client.send(
        "GET", "/health/ready", headers: "X-Forwarded-For: 192.0.2.1\r\n")
      #expect(stranger.json["checks"]?["serving"] == "failing")
      #expect(try await service.client.send("GET", "/health/live").status == 200)
      #expect(try await service.modify(Service.operation("create", "n")).outcomes == ["ok"])
    }
  }

  @Test(
    "a server whose store cannot write is not ready until it can",
    .enabled(if: Python.isInstalled, "run 'make tools'"))
  func storeFails() async throws {
    try await withService { service in
      try await service.restart { $0.tuning.busyTimeoutMilliseconds = 20 }
      #expect(try await service.client.send("GET", "/health/ready").status == 200)
      let other = try await Self.hold(service.directory + "/petrel.sqlite")
      let failed = try await service.modify(Service.operation("create", "n"))
      #expect(failed.status == 503, "\(failed.json)")
      let ready = try await service.client.send("GET", "/health/ready")
      #expect(ready.status == 503)
      let trouble = ready.json["checks"]?["store"]?.string ?? ""
      #expect(trouble.hasPrefix("failing: writing fails: another process is writing"), "\(trouble)")
      let page = try await service.client.send("GET", "/metrics")
      #expect(!String(decoding: page.body, as: UTF8.self).contains("petrel_store_failures_total 0"))
      #expect(try await service.client.send("GET", "/health/live").status == 200)
      other.kill()
      try await eventually("the server is ready again") {
        try await service.client.send("GET", "/health/ready").status == 200
      }
      #expect(try await service.modify(Service.operation("create", "n")).outcomes == ["ok"])
    }
  }

  @Test(
    "a server whose writer is stuck does not live, and who asks whether it is ready need not wait",
    .enabled(if: Python.isInstalled, "run 'make tools'"))
  func writerIsStuck() async throws {
    try await withService { service in
      let health = ServerHealth(
        store: service.store,
        probe: .writing(to: service.store, patience: .milliseconds(20)),
        reach: .reaching(service.store),
        longestTransaction: 0.05, dispatchFault: { nil })
      let other = try await Self.hold(service.directory + "/petrel.sqlite")
      let report = await health.ready()
      let trouble = report.checks.first { $0.name == "store" }?.trouble ?? ""
      #expect(trouble.hasPrefix("a write was not durable within"), "\(trouble)")
      try await eventually("the writer counts as stuck") { !health.live().isGood }
      other.kill()
      try await eventually("the writer goes on") { health.live().isGood }
      try await eventually("the store writes again") { await health.ready().isGood }
    }
  }

  @Test("dispatching that fails makes a server not ready")
  func dispatchFails() async throws {
    let store = try await Store.inMemory()
    let health = ServerHealth(
      store: store, probe: .writing(to: store, validity: .zero), reach: .reaching(store),
      dispatchFault: { "no such table" })
    let report = await health.ready()
    #expect(!report.isGood)
    #expect(
      report.json(isDetailed: true)["checks"]?["dispatch"]
        == "failing: changes cannot be dispatched: no such table")
    await store.close()
    let closed = await health.ready().checks.first { $0.name == "store" }
    #expect(closed?.trouble == "writing fails: the store was closed")
  }

  /// Another process begins to write to a store and does not end.
  private static func hold(_ path: String) async throws -> Python {
    let python = try Python(
      """
      import signal, sqlite3, sys
      connection = sqlite3.connect(sys.argv[1], isolation_level=None)
      connection.execute("BEGIN IMMEDIATE")
      print("held", flush=True)
      signal.pause()
      """, [path])
    try await eventually("the store is held") { python.output.contains("held") }
    return python
  }
}
