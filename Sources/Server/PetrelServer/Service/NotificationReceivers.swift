import AdminAPI
import ChangeDispatch
import CloudKitModel
import Configuration
import DatabaseAPI
import Logging
import PushChannels
import Storage
import StoreModel

/// The parts of a server that get notifications as soon as they are in the log.
struct NotificationReceivers: Sendable {
  let worker: DeliveryWorker
  let courier: WebCourier
  let pushes: LivePushes
  /// Nil if the server has the store alone.
  let membership: ServerMembership?
  let log: ServerLog

  func take(_ result: DispatchResult) {
    worker.enqueue(result.deliveries, waiting: result.waiting)
    pushes.add(result.logged)
    let subscribers = Set(result.logged.map(\.notification.subscriber))
    courier.wake(subscribers)
    membership?.announce(subscribers)
    log.trace(result.logged)
  }

  /// Lets all look into the store, which may have notifications that nobody handed over.
  func lookAgain() {
    worker.lookForDueDeliveries()
    courier.wakeAll()
  }

  var handlers: ServerMembership.Handlers {
    ServerMembership.Handlers(
      onServersGone: { worker.takeOver() },
      onAnnounced: { names in
        if let names { courier.wake(names) } else { courier.wakeAll() }
      },
      isListening: { courier.waitingReaderCount > 0 })
  }
}

extension WebCourier {
  convenience init(
    of store: Store, _ configuration: ServerConfiguration, log: ServerLog,
    clock: @escaping @Sendable () -> Timestamp
  ) {
    self.init(
      store: store.courier, devices: store.devices, tokens: store.secrets.tokens,
      pollTime: configuration.courierPollTime,
      streamsPerUser: configuration.limits.eventStreamsPerUser, clock: clock,
      report: {
        log.warning(
          "a web courier reader misses a notification that could not be sent",
          ["cause": .string("\($0)")])
      })
  }
}

extension DeliveryWorker.Configuration {
  init(
    _ limits: ServerConfiguration.Limits, executor: (any TaskExecutor)?,
    trace: (@Sendable (Delivery, DeliveryUpdate.State) -> Void)?
  ) {
    self.init()
    self.executor = executor
    self.trace = trace
    silentPushInterval = limits.silentPushInterval
    waitingLimit = limits.waitingPushes
    owedLimit = limits.undeliveredPushes
    owedLimitOfUser = limits.undeliveredPushesPerUser
  }
}

extension Dispatcher.Configuration {
  init(
    _ limits: ServerConfiguration.Limits, _ containers: ContainerSettings,
    executor: (any TaskExecutor)?
  ) {
    self.init()
    self.executor = executor
    indexBytes = limits.matchingIndexBytes
    deletionsCarryLastValues = { containers[$0].deletionsCarryLastValues }
  }
}
