import Foundation
import HistoryChecking

/// The users who share beside the other work of a crash test: an owner, and three participants.
///
/// One participant stays in all shares, except where a share ends. The others are removed, are
/// invited again, and leave.
final class SharingCast {
  private static let owner = "olga"
  private static let steady = "sam"
  private static let participants = ["cleo", "dora", steady]

  private let accounts: [String: (device: CloudDevice, recordName: String)]
  private var logTokens: [String: String] = [:]
  private var owner: SharingOwner?
  private var participants: [SharingParticipant] = []
  private var epoch = 0
  /// The violations of the epoch that are not in its history.
  private var violations: [Violation] = []

  /// Adds the users; no server may run.
  init(_ installation: Installation) throws {
    var accounts: [String: (CloudDevice, String)] = [:]
    for name in [Self.owner] + Self.participants {
      let account = try installation.addAccount(name)
      let device = CloudDevice(
        user: name, device: "phone", token: account.token, container: Installation.container)
      accounts[name] = (device, account.recordName)
    }
    self.accounts = accounts
  }

  var devices: [CloudDevice] { accounts.sorted { $0.key < $1.key }.map(\.value.device) }
  private var actors: [SharingActor] { [owner].compactMap(\.self) + participants }

  /// Makes the zones, shares and subscriptions of an epoch, and lets all users take part.
  func prepare(_ epoch: Int, using generator: inout some RandomNumberGenerator) {
    self.epoch = epoch
    violations = []
    let links = SharingActor.Links()
    let users = Self.participants.reduce(into: [:]) { $0[$1] = accounts[$1]?.recordName }
    guard let account = accounts[Self.owner] else { return }
    let owner = SharingOwner(
      account.device, recordName: account.recordName, epoch: epoch, seed: generator.next(),
      logToken: logTokens[Self.owner], users: users, steady: [Self.steady], links: links)
    participants = Self.participants.compactMap { name in
      accounts[name].map {
        SharingParticipant(
          $0.device, recordName: $0.recordName, epoch: epoch, seed: generator.next(),
          logToken: logTokens[name], owner: owner.recordName, isSteady: name == Self.steady,
          links: links)
      }
    }
    self.owner = owner
    owner.prepare()
    for participant in participants { participant.prepare() }
  }

  /// Starts a thread for each user, which works until `isOver` returns true.
  func work(in group: DispatchGroup, until isOver: @escaping @Sendable () -> Bool) {
    for actor in actors {
      group.enter()
      Thread.detachNewThread {
        actor.run { !isOver() }
        group.leave()
      }
    }
  }

  // MARK: Looking

  /// Looks, while nobody works, whether the owner and the participants see the same.
  func lookAtEverything() {
    guard let owner else { return }
    for place in owner.places {
      var difference: String?
      // A server that was killed may have to finish an acceptance that it has not answered.
      let agrees = TrialClock.wait(seconds: 20, every: 0.05) {
        difference = compare(place, owner)
        return difference == nil
      }
      if !agrees, let difference {
        violations.append(Violation(.nothingAcknowledgedIsLost, "\(place.zone): \(difference)"))
      }
    }
    for actor in actors { actor.readLog() }
  }

  /// How what a participant sees of a share differs from what the owner sees; nil if it does not.
  private func compare(_ place: SharedPlace, _ owner: SharingOwner) -> String? {
    guard let share = owner.device.lookUpShare(place),
      case .success(let all) = owner.device.readNames(in: place.zone)
    else { return "the owner cannot read it" }
    for participant in participants {
      guard let hasSeen = participant.look(at: place) else {
        return "\(participant.name) has no answer"
      }
      guard share.accepted.contains(participant.recordName) == hasSeen else {
        return "\(participant.name) \(hasSeen ? "reads" : "does not read") it, and the owner sees "
          + "\(share.accepted.sorted())"
      }
      let names = participant.names(in: place) ?? []
      let expected =
        hasSeen ? all.names.filter { !$0.hasPrefix(SharedPlace.unshared) } : Set<String>()
      guard names == expected else {
        return "\(participant.name)'s feed differs in "
          + "\(names.symmetricDifference(expected).sorted().prefix(10))"
      }
    }
    return nil
  }

  // MARK: Judging

  /// Waits until each request has its answer.
  func settle() {
    let isSettled = TrialClock.wait(seconds: 30, every: 0.02) {
      let settled = actors.map { $0.settle() }
      return settled.allSatisfy(\.self)
    }
    if !isSettled {
      violations.append(Violation(.restart, "a change of a share has no answer after 30 seconds"))
    }
  }

  /// Checks the epoch's history, when nothing waits to be dispatched.
  ///
  /// - Parameter patience: the seconds until all must be in the logs.
  func judge(patience: Double) -> (history: SharingHistory, violations: [Violation]) {
    lookAtEverything()
    var history = SharingHistory()
    var found: [Violation] = []
    _ = TrialClock.wait(seconds: patience, every: 0.5) {
      history = collect()
      found = SharingChecker.violations(of: history)
      return found.isEmpty
    }
    for actor in actors { logTokens[actor.name] = actor.endOfLog }
    unsubscribe()
    let refused = devices.flatMap(\.refused).map {
      Violation(.nothingAcknowledgedIsLost, "refused: \($0)")
    }
    return (history, violations + found + refused)
  }

  private func unsubscribe() {
    let prefix = SharedPlace.prefix(epoch)
    owner?.device.unsubscribe([prefix + "records", prefix + "all"], scope: "private")
    for participant in participants {
      participant.device.unsubscribe([prefix + participant.name], scope: "shared")
    }
  }

  /// The history of all users, with what became of the changes without an answer.
  private func collect() -> SharingHistory {
    var history = SharingHistory()
    guard let owner else { return history }
    for actor in actors {
      actor.readLog()
      history.append(actor.history)
    }
    let names = owner.places.reduce(into: Set<String>()) { names, place in
      if case .success(let all) = owner.device.readNames(in: place.zone) {
        names.formUnion(all.names)
      }
    }
    let deleted = Set(
      history.changes.filter { $0.subject.isDeletion && $0.hasHappened != false }
        .map(\.subject.name))
    for index in history.changes.indices {
      let subject = history.changes[index].subject
      let isThere = names.contains(subject.name)
      switch (history.changes[index].hasHappened, subject.isDeletion) {
      case (nil, true): history.changes[index].hasHappened = !isThere
      case (nil, false): history.changes[index].hasHappened = isThere
      case (true?, true) where isThere,
        (true?, false) where !isThere && !deleted.contains(subject.name):
        violations.append(
          Violation(.nothingAcknowledgedIsLost, "the answered change \(subject) is lost"))
      case (true?, _), (false?, _): break
      }
    }
    let prefix = SharedPlace.prefix(epoch)
    history.order = owner.entries.filter { $0.subscription == prefix + "all" }
      .map(\.notificationID)
    history.subjects = owner.entries.compactMap { entry in
      entry.subject.map { .init(notificationID: entry.notificationID, subject: $0) }
    }
    for participant in participants {
      history.heard[participant.name] = participant.entries.map(\.notificationID)
    }
    return history
  }

  // MARK: Sabotage

  /// Removes a participant, and then takes the removal back without a note in the history.
  func takeBackRemoval() {
    guard let owner, let victim = participants.first(where: { !$0.isSteady }) else { return }
    let place = SharedPlace(kind: .zone, epoch: epoch)
    settle()
    owner.remove(victim.name, from: place)
    settle()
    _ = owner.save(owner.users(of: place).union([victim.name]), of: place)
    guard let link = owner.device.lookUpShare(place)?.link else { return }
    _ = victim.device.accept(link)
    owner.create(in: place)
  }
}
