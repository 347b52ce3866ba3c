internal import ChangeDispatch
internal import CloudKitModel
import Foundation
internal import PushChannels
internal import StoreModel
internal import Synchronization

/// The faults of pushes that are still to come, under a lock.
final class PushFaults: Sendable {
  /// The faults.
  let plan = Mutex(FaultPlan<TestPushFault>())
}

/// The receiver of the pushes to one device of the cloud. It takes the place of APNs.
struct PushReceiver: Sendable {
  /// The device's registration.
  let device: DeviceToken
  /// The user's name in the test.
  let user: String
  /// The device's name in the test.
  let name: String

  /// Creates the receiver of a registered device.
  ///
  /// - Parameter user: the user's name in the test; nil for a user whom the test did not name.
  init(device: DeviceToken, user: String?) {
    self.device = device
    self.user = user ?? device.userRecordName
    name = device.deviceID ?? device.token
  }

  /// Returns a route that answers each push with 200 and adds it to the log, or answers with the
  /// next fault.
  func route(
    log: PushLog, faults: PushFaults, clock: @escaping @Sendable () -> Timestamp
  ) -> PushRoute {
    PushRoute(topic: Self.topic(of: device.container)) { push, completion in
      let fault = faults.plan.withLock { $0.take(for: .init(user: user, device: name)) }
      if let fault {
        completion(APNsResult(fault, at: clock()))
      } else {
        log.append(TestPush(push, to: self))
        completion(
          .answered(
            status: 200, reason: nil, timestamp: nil, apnsID: push.identifier.uuidString,
            retryAfter: nil))
      }
    }
  }

  /// Returns the topic of a container's pushes. An app's bundle ID is mostly its container's
  /// identifier without the prefix.
  private static func topic(of container: String) -> String {
    let prefix = "iCloud."
    return container.hasPrefix(prefix) ? String(container.dropFirst(prefix.count)) : container
  }
}

extension APNsResult {
  /// The answer of APNs for a fault.
  fileprivate init(_ fault: TestPushFault, at now: Timestamp) {
    switch fault.kind {
    case .unavailable(let retryAfter):
      self = .answered(
        status: 503, reason: "ServiceUnavailable", timestamp: nil, apnsID: nil,
        retryAfter: retryAfter)
    case .unregistered:
      // The time is later than that of each registration so far, so the token is deleted.
      self = .answered(
        status: 410, reason: "Unregistered",
        timestamp: Timestamp(milliseconds: now.milliseconds + 1), apnsID: nil, retryAfter: nil)
    }
  }
}

extension TestPush {
  /// A push as the test sees it.
  fileprivate init(_ push: Push, to receiver: PushReceiver) {
    self.init(
      user: receiver.user, device: receiver.name,
      containerIdentifier: receiver.device.container,
      kind: push.kind == .alert ? .alert : .background, priority: push.kind.priority,
      topic: push.topic, collapseID: push.collapseID, expiration: push.expiration.date,
      id: push.identifier, payload: Data(push.payload.bytes))
  }
}
