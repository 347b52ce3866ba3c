import CloudKitModel
import PushChannels
import Storage
import StoreModel

// The delivery of a notification to each device.
extension Explainer {
  /// Explains a notification: its deliveries, and the devices that got none.
  func explain(_ past: LoggedPush) async throws -> NotificationExplanation {
    let notification = past.entry.notification
    var deliveries: [DeliveryExplanation] = []
    for delivery in past.deliveries {
      var explanation = DeliveryExplanation(delivery: delivery)
      if let newer = delivery.mergedInto {
        explanation.mergedInto = try await store.changeHistory.logEntry(
          ofDelivery: Delivery.ID(database: delivery.id.database, number: newer))
      }
      deliveries.append(explanation)
    }
    let payload = PushPayload(notification, badge: nil, reader: .apns)
    return NotificationExplanation(
      entry: past.entry, prunedParts: payload.prunedParts,
      deliveries: deliveries, silentDevices: try await silentDevices(of: past))
  }

  /// Returns the reasons why devices of the subscriber got no delivery. The first reason is
  /// ``SilenceReason/Code/noDevice`` if the notification has no delivery, and every known
  /// registration of the subscriber's devices had ended before.
  private func silentDevices(of past: LoggedPush) async throws -> [SilenceReason] {
    let notification = past.entry.notification
    let recipient = Recipient(
      userRecordName: notification.subscriber, container: notification.database.container,
      environment: notification.database.environment)
    let owed = Set(past.deliveries.map(\.token))
    let periods = try await store.changeHistory.devicePeriods(of: recipient).filter {
      !owed.contains($0.token)
    }
    var reasons = Dictionary(grouping: periods, by: \.token).sorted { $0.key < $1.key }
      .compactMap { Self.reason(against: $0.value, for: past) }
    if owed.isEmpty, reasons.allSatisfy({ $0.code == .deviceGone }) {
      reasons.insert(
        SilenceReason(
          .noDevice,
          "the subscriber had no device, browser or webhook in this container and environment"),
        at: 0)
    }
    return reasons
  }

  /// Returns the reason why nothing of a change was owed to the subscriber of a subscription that fires
  /// once.
  ///
  /// The store keeps no trace of it. The reason is therefore made from the present registrations and the
  /// present configuration.
  func nothingOwed(to subscriber: String, of past: PastChange) async throws -> SilenceReason {
    let address = try await store.databases.address(of: past.database)
    let devices = try await store.devices.deviceTokens(of: subscriber).filter {
      $0.container == address.container && $0.environment == address.environment
    }
    let obstacles = devices.map { device in
      device.deviceID != nil && device.deviceID == past.change.deviceID
        && subscriber == past.change.userRecordName
        ? "a device of the subscriber made the change itself" : obstacle(to: device)
    }
    let cause =
      if devices.isEmpty {
        "the subscriber has no device, browser, webhook or web courier reader in this container and "
          + "environment"
      } else if obstacles.contains(nil) {
        "the subscriber had no other device than the one that made the change, or too many waiting "
          + "pushes, or waits because of very many notifications, or could not read the record then"
      } else {
        Set(obstacles.compactMap(\.self)).sorted().joined(separator: "; ")
      }
    return SilenceReason(.nothingOwed, "it fires once, and stays until it does: \(cause)")
  }

  /// Returns the reason why nothing can be sent to a device, as a part of a sentence; nil if none is known.
  private func obstacle(to device: DeviceToken) -> String? {
    if let lack = lackOfRoute(device) { return lack }
    guard let topic = device.refusal?.topic else { return nil }
    return
      "APNs refuses a device of the subscriber for the topic '\(topic)'; it must be registered again, "
      + "with its bundle ID"
  }

  /// Returns the reason why a device got no delivery; nil if no reason is known.
  ///
  /// - Parameter periods: the periods in which the device was registered, the oldest first.
  private static func reason(
    against periods: [DevicePeriod], for past: LoggedPush
  ) -> SilenceReason? {
    let logged = past.entry.logged
    if let period = periods.last(where: { $0.contains(logged) }) {
      return reason(against: period, for: past)
    }
    if let period = periods.last(where: { $0.hasEnded(by: logged) }), let ended = period.ended {
      return SilenceReason(
        .deviceGone,
        "the device's registration ended at \(ended.iso8601): \(period.reason ?? "it expired")",
        device: period.token)
    }
    return periods.first.map {
      SilenceReason(
        .registeredLater,
        "the device was registered at \($0.began.iso8601), after the notification was logged",
        device: $0.token)
    }
  }

  /// Returns the reason why a device that was registered when the notification was logged got no
  /// delivery.
  private static func reason(
    against device: DevicePeriod, for past: LoggedPush
  ) -> SilenceReason? {
    let notification = past.entry.notification
    let isOrigin =
      device.deviceID != nil && device.deviceID == notification.change.deviceID
      && notification.subscriber == notification.change.userRecordName
    if isOrigin {
      return SilenceReason(
        .originDevice, "the device made the change itself, so it gets no push",
        device: device.token)
    }
    if device.kind == .courier {
      return SilenceReason(
        .courier, "a web courier reader fetches notifications from the log and gets no push",
        device: device.token)
    }
    return past.unsent.reason(against: device, in: notification.database.container)
  }
}

extension UnsentDeliveries {
  /// Returns the reason that the dispatch recorded for a device; nil if it recorded neither a limit
  /// nor a missing channel.
  fileprivate func reason(
    against device: DevicePeriod, in container: String
  ) -> SilenceReason? {
    let token = device.token
    if let channel = PushChannelRegistry.channel(of: device.kind),
      contains(UnsentDeliveries(noWayTo: device.kind, device.apnsEnvironment))
    {
      return SilenceReason(
        .notSetUp,
        "the configuration had no \(channel.setting(for: device.bundleID, in: container)) when the notification was logged, so "
          + "nothing was queued for the \(channel.deviceName); add it on each server", device: token
      )
    }
    if contains(.userLimit) {
      return SilenceReason(
        .tooManyWaiting,
        "the subscriber had as many waiting pushes as 'limits.undeliveredPushesPerUser' allows, so "
          + "no push was queued for this notification", device: token)
    }
    if contains(.serverLimit) {
      return SilenceReason(
        .tooManyWaiting,
        "the server had as many waiting pushes as 'limits.undeliveredPushes' allows, so no push "
          + "was queued for this notification", device: token)
    }
    return nil
  }
}
