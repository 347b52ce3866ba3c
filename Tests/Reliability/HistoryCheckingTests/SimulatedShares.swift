import HistoryChecking
import PropertyTesting

/// A server with shares that keeps its promises, and carries out one request after the other.
enum SimulatedShares {
  private struct Part {
    var isInvited = false
    var isAccepted = false
  }

  /// Returns everything that the users of such a server do and see.
  static func history(requests: Int = 150, seed: Int) -> SharingHistory {
    var random = SeededGenerator(seed: seed)
    var history = SharingHistory()
    let (users, shares) = (["ben", "carla", "dan"], ["s", "t"])
    for user in users { history.heard[user] = [] }
    var parts: [String: Part] = [:]
    var clock: Int64 = 0
    var number = 0
    for _ in 0..<requests {
      let (user, share) = (random.pick(users), random.pick(shares))
      let key = user + share
      // One user stays in all shares.
      let isSteady = user == users[0]
      let span = Span(began: clock + 1, ended: clock + 5)
      clock += 10
      func note(_ effect: SharingHistory.PartEvent.Effect) {
        history.parts.append(
          SharingHistory.PartEvent(user: user, share: share, effect: effect, span: span))
      }
      switch Int.random(in: 0..<10, using: &random) {
      case 0, 1:
        parts[key, default: Part()].isInvited = true
        note(.invited)
      case 2 where parts[key]?.isInvited == true:
        parts[key]?.isAccepted = true
        note(.accepted)
      case 3 where !isSteady:
        parts[key] = nil
        note(.removed)
      case 4 where !isSteady && parts[key]?.isAccepted == true:
        parts[key] = nil
        note(.left)
      case 5, 6:
        history.looks.append(
          SharingHistory.Look(
            user: user, share: share, span: span, hasSeen: parts[key]?.isAccepted == true))
      default:
        number += 1
        let isShared = !random.chance(1, in: 5)
        let subject = SharingHistory.Change.Subject(name: "r\(number)", isDeletion: false)
        history.changes.append(
          SharingHistory.Change(
            user: "owner", share: isShared ? share : nil, subject: subject, span: span,
            hasHappened: true))
        history.order.append("n\(number)")
        history.subjects.append(
          SharingHistory.Entry(notificationID: "n\(number)", subject: subject))
        guard isShared else { continue }
        for user in users where parts[user + share]?.isAccepted == true {
          history.heard[user]?.append("n\(number)")
        }
      }
    }
    return history
  }
}
