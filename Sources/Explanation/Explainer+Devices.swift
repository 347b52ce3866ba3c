import CloudKitModel
import PushDelivery
import StoreModel

// What became of a notification on its way to each device.
extension Explainer {
  func explain(_ past: PastNotification) async throws -> NotificationExplanation {
    let notification = past.entry.notification
    var deliveries: [DeliveryExplanation] = []
    for delivery in past.deliveries {
      var explanation = DeliveryExplanation(delivery: delivery)
      if let newer = delivery.mergedInto {
        explanation.mergedInto = try await store.logEntry(
          ofDelivery: Delivery.ID(database: delivery.id.database, number: newer))
      }
      deliveries.append(explanation)
    }
    let payload = PushPayload(notification, badge: nil, form: .apns)
    return NotificationExplanation(
      entry: past.entry, prunedParts: payload.prunedParts,
      deliveries: deliveries, silentDevices: try await silentDevices(of: past))
  }

  private func silentDevices(of past: PastNotification) async throws -> [SilenceReason] {
    let notification = past.entry.notification
    let recipient = Recipient(
      userRecordName: notification.subscriber, container: notification.database.container,
      environment: notification.database.environment)
    let owed = Set(past.deliveries.map(\.token))
    let devices = try await store.deviceTokens(of: recipient.userRecordName).filter {
      $0.container == recipient.container && $0.environment == recipient.environment
    }
    let gone = try await store.goneDevices(of: recipient)
    var reasons = devices.filter { !owed.contains($0.token) }.map {
      Self.reason(against: $0, for: past)
    }
    let late = gone.filter {
      !owed.contains($0.token) && $0.registered <= past.entry.logged
        && $0.gone >= past.entry.logged
    }
    reasons += late.map { device in
      past.unsent.reason(against: device.kind, token: device.token)
        ?? SilenceReason(
          .originDevice, "the device, which is gone since, was owed no push: it made the change",
          device: device.token)
    }
    reasons += gone.filter { $0.gone < past.entry.logged }.map {
      SilenceReason(
        .deviceGone, "the device was gone since \($0.gone.iso8601): \($0.reason)", device: $0.token)
    }
    if owed.isEmpty, !reasons.contains(where: { $0.code != .courier && $0.code != .deviceGone }) {
      reasons.insert(
        SilenceReason(
          .noDevice,
          "the subscriber had no device in this container and environment that is pushed to"),
        at: 0)
    }
    return reasons
  }

  private static func reason(
    against device: DeviceToken, for past: PastNotification
  ) -> SilenceReason {
    let change = past.entry.notification.change
    if let deviceID = device.deviceID, deviceID == change.deviceID,
      device.userRecordName == change.userRecordName
    {
      return SilenceReason(
        .originDevice, "the device made the change, and is not told of what it knows",
        device: device.token)
    }
    if device.kind == .courier, device.registered <= past.entry.logged {
      return SilenceReason(
        .courier, "a reader of the web courier comes for what is logged", device: device.token)
    }
    let reason = past.unsent.reason(
      against: device.kind, device.apnsEnvironment, token: device.token)
    if let reason { return reason }
    return SilenceReason(
      .registeredLater,
      "the device was registered at \(device.registered.iso8601), after the notification was logged",
      device: device.token)
  }
}

extension UnsentDeliveries {
  /// Why nothing was written for a device; nil where it is not for a limit or want of a way.
  ///
  /// - Parameter apnsEnvironment: nil where it is not known any more.
  fileprivate func reason(
    against kind: DeviceToken.Kind, _ apnsEnvironment: APNsEnvironment? = nil, token: String
  ) -> SilenceReason? {
    let environments = apnsEnvironment.map { [$0] } ?? APNsEnvironment.allCases
    let noWay = environments.contains { contains(UnsentDeliveries(noWayTo: kind, $0)) }
    if kind != .courier, noWay {
      let (channel, key) =
        switch kind {
        case .apns:
          ("APNs" + (apnsEnvironment.map { " (\($0.rawValue))" } ?? ""), "the container's 'apns'")
        case .webPush: ("Web Push", "'webPush'")
        case .webhook: ("webhooks", "'webhooks'")
        case .courier: ("", "")
        }
      return SilenceReason(
        .notSetUp,
        "\(channel) was not set up when the notification was logged, so nothing was queued for the "
          + "device; name \(key) in the configuration of each server", device: token)
    }
    if contains(.userLimit) {
      return SilenceReason(
        .tooManyWaiting,
        "as many pushes waited for the subscriber as 'limits.undeliveredPushesPerUser' allows, so "
          + "none was queued for this notification", device: token)
    }
    if contains(.serverLimit) {
      return SilenceReason(
        .tooManyWaiting,
        "as many pushes waited on the server as 'limits.undeliveredPushes' allows, so none was queued "
          + "for this notification", device: token)
    }
    return nil
  }
}
