import ChangeDispatch
import CloudKitModel
import CommandInterface
import Foundation
import HTTP2Transport
import PushChannels
import ServerHosting
import Storage
import StoreModel

/// The parts of a server that turn a saved record into pushes: a store on disk, the dispatcher, the
/// delivery worker, and connections to a peer in place of APNs. They run in this process, and
/// records are saved without HTTP.
final class PushPipeline: Sendable {
  let timeline = PushTimeline()
  /// The worker that sends the deliveries of the store's queue.
  let worker: DeliveryWorker
  private let dispatcher: Dispatcher
  private let store: Store
  private let database: DatabaseID
  private let devices: Int
  private let loop: EventLoop
  private let client: APNsClient

  /// Opens a store in a folder, and saves a device and a subscription for each user. All
  /// subscriptions are to the same author.
  ///
  /// When the initializer returns, the dispatcher has read the subscriptions into its index.
  ///
  /// - Parameter devices: The number of devices, and of users.
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
    // The dispatcher reads the subscriptions into its index for the first record.
    try await save("quiet", author: "nobody")
    await dispatcher.settled()
  }

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

  /// Returns the function that sends pushes, as the delivery worker needs it. It replaces each
  /// device token by one that the peer knows, and counts the answers.
  private static func route(
    through client: APNsClient, noting timeline: PushTimeline
  ) -> PushRoute {
    PushRoute(topic: "org.example") { push, completion in
      var push = push
      push.deviceToken = PushPeer.deviceToken(standingFor: push.deviceToken)
      client.send(push) { answer in
        timeline.countAnswer(isAccepted: answer.next == .done)
        completion(answer)
      }
    }
  }

  /// Saves records that each fire all subscriptions, and waits until the outcome of every push is
  /// in the store.
  ///
  /// - Returns: The seconds from the first save to the last outcome.
  /// - Throws: `UsageError` if the number of accepted pushes, or of deliveries with this outcome in
  ///   the store, is not the expected one.
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

  private func save(_ name: String, author: String) async throws {
    try await FanOutRecords.save(name, author: author, in: database, of: store.records)
  }

  /// Stops the dispatcher, the delivery worker and the client, in this order, and then closes the
  /// store.
  func stop() async {
    await dispatcher.stop()
    await worker.stop()
    await client.close()
    loop.shutDown()
    await store.close()
  }
}
