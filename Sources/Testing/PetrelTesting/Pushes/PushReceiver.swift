internal import ChangeDispatch
internal import CloudKitModel
import Foundation
internal import PushChannels
internal import StoreModel
internal import Synchronization

/// The faults that still apply to later pushes. A lock protects them.
final class PushFaults: Sendable {
  let plan = Mutex(FaultPlan<TestPushFault>())
}

/// The receiver of the pushes to one device of the cloud. It answers the pushes in place of APNs.
struct PushReceiver: Sendable {
  let device: DeviceToken
  let user: String
  /// The device's name in the test. If the device has no name, its token.
  let name: String

  /// - Parameter user: Nil for a user whom the test did not name; the user record name then
  ///   replaces the name.
  init(device: DeviceToken, user: String?) {
    self.device = device
    self.user = user ?? device.userRecordName
    name = device.deviceID ?? device.token
  }

  /// Returns the route of pushes to the device. It answers a push with the next fault. Without a
  /// fault, it adds the push to the log and answers with 200.
  func route(
    log: PushLog, faults: PushFaults, clock: @escaping @Sendable () -> Timestamp
  ) -> PushRoute {
    PushRoute(topic: device.bundleID ?? Self.topic(of: device.container)) { push, completion in
      let fault = faults.plan.withLock { $0.take(for: .init(user: user, device: name)) }
      if let fault {
        completion(Self.answer(fault, at: clock()))
      } else {
        log.append(TestPush(push, to: self))
        completion(.apns(200))
      }
    }
  }

  /// Returns the topic of a container's pushes: the container's identifier without the prefix
  /// `iCloud.`. For most apps, this is the bundle ID.
  private static func topic(of container: String) -> String {
    let prefix = "iCloud."
    return container.hasPrefix(prefix) ? String(container.dropFirst(prefix.count)) : container
  }

  private static func answer(_ fault: TestPushFault, at now: Timestamp) -> PushAnswer {
    switch fault.kind {
    case .unavailable(let retryAfter):
      .apns(503, "ServiceUnavailable", retryAfter: retryAfter)
    case .unregistered:
      // This time is later than all registrations so far, so the server deletes the token.
      .apns(410, "Unregistered", timestamp: Timestamp(milliseconds: now.milliseconds + 1))
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
