import ChangeDispatch
import CloudKitModel
import CommandInterface
import Foundation
import HTTP2Transport
import PushChannels
import ServerHosting
import Storage
import StoreModel

/// The parts of a server between a record and its pushes, in this process and without HTTP: a store
/// on disk, the dispatcher, the delivery worker and connections to a peer.
final class PushPipeline: Sendable {
  /// The times of log entries and answers.
  let timeline = PushTimeline()
  /// The worker that sends the deliveries of the queue.
  let worker: DeliveryWorker
  private let dispatcher: Dispatcher
  private let store: any Store
  private let database: DatabaseID
  private let devices: Int
  private let loop: EventLoop
  private let client: APNsClient

  /// Opens a store in a folder, and saves for each user a device and a subscription to the same
  /// author.
  ///
  /// The dispatcher has read its index when the initializer returns.
  init(
    in directory: String, devices: Int, connections: Int, to peer: PushPeer,
    report: BenchmarkReport
  ) async throws {
    store = try await ServerProcess.openStore(
      in: directory, with: StoreConfiguration(role: .server))
    self.devices = devices
    let database = try await store.databases.database(at: FanOutRecords.address(.public))
    self.database = database
    let loop = try EventLoop(name: "petrel-apns")
    self.loop = loop
    client = peer.client(on: loop, connections: connections)
    let route = Self.route(through: client, noting: timeline)
    let worker = DeliveryWorker(
      store: store.deliveries, report: { Output.complain("\($0)") }, route: { _ in route })
    self.worker = worker
    dispatcher = Dispatcher(
      store: DispatchStore(store), report: { Output.complain("\($0)") },
      capacity: { worker.capacity() },
      onDispatched: { [timeline] result in
        timeline.count(result)
        worker.enqueue(result.deliveries, waiting: result.waiting)
      })
    try await fill(report)
    worker.start()
    dispatcher.start()
    // The dispatcher reads its index for the first record.
    try await save("quiet", author: "nobody")
    await dispatcher.settled()
  }

  /// Saves the devices and subscriptions.
  private func fill(_ report: BenchmarkReport) async throws {
    let start = monotonicSeconds()
    let fill = SubscriptionFill(store: store.subscriptions, database: database, users: devices)
    try await fill.save(devices) { FanOutRecords.subscription("sub-\($0)", author: "star") }
    try await fill.eachUser { [store] user in
      try await store.devices.saveDeviceToken(FanOutRecords.device(of: user))
    }
    report.line(
      String(
        format: "%d users with a device and a subscription each, made in %.0f s", devices,
        monotonicSeconds() - start))
  }

  /// Returns the route of a server's pushes. It replaces each device token by one that the peer
  /// knows.
  private static func route(
    through client: APNsClient, noting timeline: PushTimeline
  ) -> PushRoute {
    PushRoute(topic: "org.example") { push, completion in
      var push = push
      push.deviceToken = PushPeer.deviceToken(standingFor: push.deviceToken)
      client.send(push) { result in
        if case .answered(200, _, _, _, _) = result {
          timeline.countAnswer(isAccepted: true)
        } else {
          timeline.countAnswer(isAccepted: false)
        }
        completion(result)
      }
    }
  }

  /// Saves records that each fire all subscriptions. Waits until the outcome of every push is in
  /// the store.
  ///
  /// - Returns: The seconds from the first save to the last outcome.
  /// - Throws: `UsageError` if a push was refused, lost or sent twice.
  func push(records: Int) async throws -> Double {
    let count = records * devices
    timeline.begin(expecting: count)
    let delivered = worker.metrics.delivered
    let start = monotonicSeconds()
    for _ in 0..<records { try await save(UUID().uuidString, author: "star") }
    timeline.mark("the record is saved")
    await dispatcher.settled()
    await worker.settled()
    let seconds = monotonicSeconds() - start
    timeline.mark("last outcome in the store")
    let recorded = worker.metrics.delivered - delivered
    guard timeline.accepted == count, recorded == count else {
      throw UsageError(
        "of \(count) pushes \(timeline.accepted) were accepted and \(timeline.refused) answered "
          + "otherwise, and \(recorded) are delivered in the store")
    }
    return seconds
  }

  /// Saves a record directly in the store.
  private func save(_ name: String, author: String) async throws {
    try await FanOutRecords.save(name, author: author, in: database, of: store.records)
  }

  /// Ends all parts in the order of the changes' path and closes the store.
  func stop() async {
    await dispatcher.stop()
    await worker.stop()
    await client.close()
    loop.shutDown()
    await store.close()
  }
}
