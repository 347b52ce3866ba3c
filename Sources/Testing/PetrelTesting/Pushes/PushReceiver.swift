internal import ChangeDispatch
internal import CloudKitModel
import Foundation
internal import PushChannels
internal import StoreModel
internal import Synchronization

/// The faults of pushes that are still to come.
final class PushFaults: Sendable {
  let plan = Mutex(FaultPlan<TestPushFault>())
}

/// The end of a push's way: a device of the cloud, in the place of APNs.
struct PushReceiver: Sendable {
  let device: DeviceToken
  let user: String
  let name: String

  /// - Parameter user: the user's name in the test; nil for one whom the cloud did not make.
  init(device: DeviceToken, user: String?) {
    self.device = device
    self.user = user ?? device.userRecordName
    name = device.deviceID ?? device.token
  }

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

  /// An app's bundle ID is mostly its container's identifier without the prefix.
  private static func topic(of container: String) -> String {
    let prefix = "iCloud."
    return container.hasPrefix(prefix) ? String(container.dropFirst(prefix.count)) : container
  }
}

extension APNsResult {
  /// What APNs answers when it does not take a push.
  fileprivate init(_ fault: TestPushFault, at now: Timestamp) {
    switch fault.kind {
    case .unavailable(let retryAfter):
      self = .answered(
        status: 503, reason: "ServiceUnavailable", timestamp: nil, apnsID: nil,
        retryAfter: retryAfter)
    case .unregistered:
      // After each registration that was made up to now.
      self = .answered(
        status: 410, reason: "Unregistered",
        timestamp: Timestamp(milliseconds: now.milliseconds + 1), apnsID: nil, retryAfter: nil)
    }
  }
}

extension TestPush {
  fileprivate init(_ push: Push, to receiver: PushReceiver) {
    self.init(
      user: receiver.user, device: receiver.name,
      containerIdentifier: receiver.device.container,
      kind: push.kind == .alert ? .alert : .background, priority: push.kind.priority,
      topic: push.topic, collapseID: push.collapseID, expiration: push.expiration.date,
      id: push.identifier, payload: Data(push.payload.bytes))
  }
}
