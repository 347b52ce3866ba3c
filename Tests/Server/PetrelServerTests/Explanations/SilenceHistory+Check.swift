import CloudKitModel
import Explanation
import PropertyTesting
import Storage
import StoreModel
import Testing

@testable import PetrelServer

// What the history made of subscriptions is compared with a plain model.
extension SilenceHistory {
  /// The explanations of a record's changes, newest first.
  func explanations(
    of record: RecordID, about question: Explainer.Question = .init(), at service: Service
  ) async throws -> [ChangeExplanation] {
    var limits = Explainer.Limits()
    limits.changes = 100
    return try await Explainer(store: service.store, limits: limits).explain(
      record, in: try await database(of: service), about: question
    ).changes
  }

  /// Trims the log of what is more than some steps old.
  mutating func trimLog(of service: Service) async throws {
    let steps = Int.random(in: 20..<60, using: &random)
    lastTrimmed = now - steps
    try await service.restart {
      $0.changeHistory.changeBytes = Self.largeBytes / 2
      $0.notificationLog.age = (Double(steps) - 0.5) * Self.stepSeconds
    }
    try await service.store.maintenance.trim(at: service.clock.read())
  }

  func check(at service: Service) async throws {
    var seen: Set<[SilenceReason.Code]> = []
    for person in people {
      for id in ["v", "w", "x", "y", "z"] {
        let states = wishes[person]?[id] ?? []
        let subscriber = user(person, of: service).recordName
        for record in Set(changes.map(\.record)) {
          let explained = try await explanations(
            of: record, about: .init(subscriber: subscriber, subscriptionID: id), at: service)
          let made = changes.filter { $0.record == record }
          try #require(explained.count == made.count, "seed \(seed)")
          for (explanation, change) in zip(explained.reversed(), made) {
            let expected =
              codes(against: states, of: person, for: change) ?? whereabouts(of: id, of: person)
            let place: Comment = "seed \(seed): \(person) \(id) \(states), \(change)"
            #expect(explanation.notifications.count == (expected.isEmpty ? 1 : 0), place)
            #expect((explanation.silent.first?.reasons.map(\.code) ?? []) == expected, place)
            seen.insert(expected)
          }
        }
      }
    }
    #expect(seen.count > 1, "seed \(seed): \(seen)")
  }

  /// Empty where the subscription fires; nil where it has never been there.
  private func codes(
    against states: [(step: Int, wish: Wish?)], of person: Person, for change: PastChange
  ) -> [SilenceReason.Code]? {
    guard !states.isEmpty else { return nil }
    let then = states.last { $0.step < change.step }?.wish
    let fired = then.map {
      reasons(against: $0, of: person, for: change, isOpen: change.isOpen).isEmpty
    }
    if fired == true, change.step > lastTrimmed { return [] }
    // The explainer knows the present state of a subscription alone.
    guard let now = states.last?.wish else { return [.deletedSubscription] }
    let lastDeletion = states.lastIndex { $0.wish == nil } ?? -1
    guard states[lastDeletion + 1].step < change.step else { return [.notYetSaved] }
    let isChanged = states.last.map { $0.step > change.step } == true
    let codes =
      reasons(
        against: now, of: person, for: change, isOpen: isOpen, knowsNumber: !change.isLarge)
      + (isChanged ? [.changedSince] : [])
    return codes.isEmpty ? [now.isOnce ? .nothingOwed : .notLogged] : codes
  }

  private func whereabouts(of id: String, of person: Person) -> [SilenceReason.Code] {
    let places = elsewhere[person]?[id] ?? []
    guard !places.isEmpty else { return [.unknownSubscription] }
    let isNear = places.contains { $0.environment == place.environment }
    return isNear ? [.otherDatabase] : [.otherEnvironment]
  }

  func reasons(
    against wish: Wish, of person: Person, for change: PastChange, isOpen: Bool,
    knowsNumber: Bool = true
  ) -> [SilenceReason.Code] {
    let zone = change.record.zoneID.zoneName
    var codes: [SilenceReason.Code] = []
    var hasFilter = false
    switch wish {
    case .query(let type, let wanted, let events, let most, _):
      if type != change.type { codes.append(.recordType) }
      if !events.contains(change.event) { codes.append(.event) }
      if let wanted, wanted != zone { codes.append(.zone) }
      if knowsNumber, type == change.type, let most, change.number > most { codes.append(.filter) }
      hasFilter = most != nil
    case .zone(let wanted, let type):
      if zone == Self.defaultZone {
        codes.append(.defaultZone)
      } else if wanted != zone {
        codes.append(.zone)
      }
      if let type, type != change.type { codes.append(.recordType) }
    case .database(let type):
      if zone == Self.defaultZone { codes.append(.defaultZone) }
      if let type, type != change.type { codes.append(.recordType) }
    }
    let mayRead =
      scope == .private || change.type != "Note" || change.creator == person || isOpen
    if !mayRead { codes.append(.permission) }
    return codes.isEmpty && hasFilter && !knowsNumber ? [.valuesNotKept] : codes
  }
}
