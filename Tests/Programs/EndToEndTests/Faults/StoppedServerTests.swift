import CloudKit
import PushChannels
import Storage
import Synchronization
import Testing
import Waiting

@testable import PetrelServer

struct StoppedServerTests {
  /// Something that should not be there any more.
  private struct Part: Sendable {
    let name: String
    weak var object: (any AnyObject & Sendable)?
  }

  @Test("nothing is kept of one that was stopped, nor of its store")
  func released() async throws {
    let parts = Mutex<[Part]>([])
    try await Cloud.run { cloud in
      let database = try await cloud.registeredContainer(of: "anna", device: "phone")
        .privateCloudDatabase
      try await database.save(
        CKQuerySubscription(
          recordType: "Note", predicate: NSPredicate(value: true), subscriptionID: "notes"))
      let writer = try await cloud.container(of: "anna", device: "mac").privateCloudDatabase
      try await writer.save(CKRecord(recordType: "Note"))
      try await cloud.pushes()
      let server = await cloud.server
      let loop = try #require(server.channels.channel(APNsChannel.self)).loop
      let store = await cloud.store
      parts.withLock {
        $0 = [
          Part(name: "server", object: server), Part(name: "service", object: server.service),
          Part(name: "channels", object: server.channels),
          Part(name: "loop", object: loop),
          Part(name: "store", object: store),
        ]
      }
    }
    let kept = {
      parts.withLock { parts in parts.filter { $0.object != nil }.map(\.name) }
    }
    // The wait reports only that it has ended; the comparison names what is left.
    try? await eventually("nothing is kept") { kept().isEmpty }
    #expect(kept() == [])
  }
}
