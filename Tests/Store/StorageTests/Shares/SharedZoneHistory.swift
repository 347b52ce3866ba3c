import CloudKitModel
import PropertyTesting
import StoreModel
import Testing

@testable import Storage

/// A random history of owners, who share a zone each, and of participants. Owners also take part in
/// each other's zones. Accounts are deleted, and others take their places.
///
/// Records refer to others by `deleteSelf`, also to those of other shares. No request deletes a record
/// that its user may not delete directly.
///
/// Each request goes to any of the servers. After each, the outcome, all that users see of the zone,
/// and their notifications are compared with ``SharedZoneModel``.
struct SharedZoneHistory {
  private static let names = (0..<7).map { "r\($0)" }
  private static let all = names + names.map { SharingUser.shareName(of: $0) }
  private static let zone = ZoneID(zoneName: "z")

  /// A user at each server.
  private struct Person {
    var account: String
    var atServers: [SharingUser]
    /// The zone that the user owns and shares; nil for a user who only takes part.
    var model: SharedZoneModel?
    var links: [String: String] = [:]

    var name: String { atServers[0].name }
    /// The zone as others name it.
    var zone: ZoneID { ZoneID(zoneName: SharedZoneHistory.zone.zoneName, ownerName: name) }
  }

  /// A request's outcome, and that of the model.
  private typealias Outcomes = (found: String, expected: String)

  private let servers: [TestStore]
  private let seed: Int
  private var random: SeededGenerator
  private var people: [Person] = []
  private var count = 0
  private var lines: [String] = []

  init(servers: [TestStore], seed: Int) async throws {
    self.servers = servers
    self.seed = seed
    random = SeededGenerator(seed: seed)
    for isOwner in [true, true, false, false] {
      people.append(try await makePerson(isOwner: isOwner))
    }
    // Each owner begins with two shares, in which all others take part.
    for place in people.indices where people[place].model != nil {
      let others = people.filter { $0.name != people[place].name }
      for root in [Self.names[0], Self.names[1]] {
        let outcomes = try await share(
          root, of: place,
          with: Dictionary(uniqueKeysWithValues: others.map { ($0.name, .readWrite) }))
        #expect(outcomes == ("saved", "saved"), comment)
        for user in others { _ = try await accept(root, of: place, by: user) }
      }
    }
    try await servers[0].dispatchAll()
  }

  private var comment: Comment { "seed \(seed): \(lines.suffix(40))" }

  private mutating func makePerson(isOwner: Bool) async throws -> Person {
    count += 1
    let account = "user\(count)"
    let user = try await servers[0].store.accounts.addUser(named: account, at: TestStore.time(0))
    var atServers: [SharingUser] = []
    for server in servers {
      atServers.append(try await SharingUser(user.userRecordName, server))
    }
    try await atServers[0].subscribe()
    if isOwner {
      _ = try await servers[0].store.zones.modifyZones(
        [.create(Self.zone)], in: atServers[0].privateID,
        origin: ChangeOrigin(userRecordName: user.userRecordName), timestamp: TestStore.time(0))
    }
    return Person(
      account: account, atServers: atServers, model: isOwner ? SharedZoneModel() : nil)
  }

  // MARK: Steps

  /// Makes a random request, and compares everything with the model.
  mutating func step() async throws {
    if random.chance(1, in: 60) { return try await deleteAccount() }
    let place = random.pick(people.indices.filter { people[$0].model != nil })
    let user = people[random.pick(people.indices.filter { $0 != place })]
    let before = people[place].model
    let name: String
    let outcomes: Outcomes?
    // The participant who makes the request; nil for the owner.
    var deleter: String?
    switch Int.random(in: 0..<16, using: &random) {
    case 0..<5: (name, outcomes) = try await ask(owner: place)
    case 5..<8: (name, outcomes) = try await accept(user, place)
    case 8: (name, outcomes) = try await end(user, place)
    default:
      var participant = user
      let participants = people.filter { people[place].model?.takesPart($0.name) == true }
      if random.chance(5, in: 6), !participants.isEmpty { participant = random.pick(participants) }
      deleter = participant.name
      (name, outcomes) = try await ask(participant: participant, place)
    }
    guard let outcomes else { return }
    #expect(outcomes.found == outcomes.expected, comment)
    let owner = people[place]
    let isChange = outcomes.found == "saved" || owner.model != before
    let logged = try await random.pick(servers).dispatchWithForwards(owner.atServers[0].privateID)
    let gone = Set(before?.records.keys.map(\.self) ?? [])
      .subtracting(owner.model?.records.keys.map(\.self) ?? [])
    if let deleter {
      #expect(gone.allSatisfy { before?.mayDelete($0, by: deleter) == true }, comment)
    }
    for user in people where user.name != owner.name {
      let sees = [before, owner.model].contains { model in
        gone.union([name]).contains { model?.part(of: user.name, in: $0) != nil }
      }
      #expect(
        logged.lines(of: user.atServers[0]).isEmpty != (isChange && sees),
        "\(user.account): \(comment)")
    }
    try await check(owner)
  }

  /// A request of an owner: to save or delete a record, or to share it.
  private mutating func ask(owner place: Int) async throws -> (String, Outcomes?) {
    let owner = random.pick(people[place].atServers)
    var name = random.pick(Self.names)
    switch Int.random(in: 0..<5, using: &random) {
    case 0, 1:
      let parent = random.chance(1, in: 4) ? nil : random.pick(Self.names)
      let target = random.chance(2, in: 3) ? nil : random.pick(Self.names)
      lines.append(
        "\(people[place].account) saves \(name) below \(parent ?? "-") with \(target ?? "-")")
      let found = try await owner.test.modify(
        [SharingUser.saving(name, below: parent, in: Self.zone, Self.hung(on: target))],
        in: owner.privateID, by: owner.name)[0].summary
      return (name, (found, people[place].model?.save(name, below: parent, with: target) ?? ""))
    case 2:
      lines.append("\(people[place].account) deletes \(name)")
      let found = try await owner.test.delete(name, zone: Self.zone, in: owner.privateID).summary
      return (name, (found, people[place].model?.delete(name) ?? ""))
    default:
      var invited: [String: SharePermission] = [:]
      for user in people where user.name != owner.name && random.chance(4, in: 5) {
        invited[user.name] = random.chance(3, in: 4) ? .readWrite : .readOnly
      }
      let roots = people[place].model?.shares.keys.sorted() ?? []
      if random.chance(1, in: 2), !roots.isEmpty { name = random.pick(roots) }
      return (name, try await share(name, of: place, with: invited))
    }
  }

  private mutating func share(
    _ root: String, of place: Int, with invited: [String: SharePermission]
  ) async throws -> Outcomes {
    let owner = random.pick(people[place].atServers)
    lines.append("\(people[place].account) shares \(root) with \(invited)")
    let link = try await owner.linkOfShare(
      root, in: Self.zone, with: invited.map { SharingUser.participant($0.key, $0.value) })
    if let link { people[place].links[root] = link }
    let isExpected = people[place].model?.share(root, with: invited) == true
    return (link == nil ? "refused" : "saved", isExpected ? "saved" : "refused")
  }

  private mutating func accept(
    _ user: Person, _ place: Int
  ) async throws -> (String, Outcomes?) {
    var name = random.pick(Self.names)
    let invitations = people[place].model?.shares
      .filter { $0.value[user.name]?.isAccepted == false }.keys.sorted()
    if random.chance(3, in: 4), let invitations, !invitations.isEmpty {
      name = random.pick(invitations)
    }
    return (name, try await accept(name, of: place, by: user))
  }

  /// - Returns: nil if there was never a link.
  private mutating func accept(
    _ name: String, of place: Int, by user: Person
  ) async throws -> Outcomes? {
    guard let link = people[place].links[name] else { return nil }
    lines.append("\(user.account) accepts \(name) of \(people[place].account)")
    let found: String
    do {
      try await random.pick(user.atServers).accept(link)
      found = "accepted"
    } catch is ItemFailure {
      found = "refused"
    }
    let isInvited = people[place].model?.shares[name]?[user.name] != nil
    people[place].model?.shares[name]?[user.name]?.isAccepted = true
    return (found, isInvited ? "accepted" : "refused")
  }

  /// Ends a share, or a user's part in it.
  private mutating func end(_ user: Person, _ place: Int) async throws -> (String, Outcomes?) {
    let name = random.pick(Self.names)
    let share = SharingUser.shareName(of: name)
    if random.chance(1, in: 2) {
      let owner = random.pick(people[place].atServers)
      lines.append("\(people[place].account) ends \(name)")
      let found = try await owner.test.delete(share, zone: Self.zone, in: owner.privateID).summary
      people[place].model?.shares[name] = nil
      return (name, (found, "deleted"))
    }
    lines.append("\(user.account) leaves \(name) of \(people[place].account)")
    let found = try await random.pick(user.atServers).modify([
      SharingUser.deleting(share, in: people[place].zone)
    ])[0].summary
    let takesPart = people[place].model?.takesPart(user.name) == true
    if people[place].model?.shares[name]?[user.name]?.isAccepted == true {
      people[place].model?.shares[name]?[user.name] = nil
    }
    return (name, (found, takesPart ? "deleted" : "zoneNotFound"))
  }

  /// A request of a participant: to save or delete a record.
  private mutating func ask(
    participant user: Person, _ place: Int
  ) async throws -> (String, Outcomes?) {
    let seen = people[place].model?.seen(by: user.name).intersection(Self.names).sorted() ?? []
    var name = random.pick(Self.names)
    let here = random.pick(user.atServers)
    if random.chance(2, in: 3), !seen.isEmpty { name = random.pick(seen) }
    if random.chance(1, in: 3) {
      lines.append("\(user.account) deletes \(name) of \(people[place].account)")
      let found = try await here.modify([SharingUser.deleting(name, in: people[place].zone)])[0]
        .summary
      return (name, (found, people[place].model?.delete(name, by: user.name) ?? ""))
    }
    var parent = random.chance(1, in: 4) ? nil : random.pick(Self.names)
    if random.chance(3, in: 4), !seen.isEmpty { parent = random.pick(seen) }
    if random.chance(1, in: 3) { name = random.pick(Self.names) }
    var target = random.chance(1, in: 2) ? nil : random.pick(Self.names)
    if target != nil, random.chance(1, in: 2), !seen.isEmpty { target = random.pick(seen) }
    lines.append(
      "\(user.account) saves \(name) below \(parent ?? "-") with \(target ?? "-") "
        + "of \(people[place].account)")
    let found = try await here.modify([
      SharingUser.saving(name, below: parent, in: people[place].zone, Self.hung(on: target))
    ])[0].summary
    return (
      name,
      (
        found,
        people[place].model?.save(name, below: parent, with: target, by: user.name) ?? ""
      )
    )
  }

  /// The fields of a record that goes with another one.
  private static func hung(on target: String?) -> RecordFields<RecordValue?> {
    ["with": target.map { .reference(Reference(recordName: $0, action: .deleteSelf)) }]
  }

  /// Deletes an account, and lets another take its place.
  private mutating func deleteAccount() async throws {
    let place = random.pick(people.indices)
    let person = people[place]
    lines.append("\(person.account) is deleted")
    _ = try await random.pick(servers).store.userDeletion.beginUserDeletion(
      named: person.account, publicRecords: .keep, at: TestStore.time(1))
    var state: UserDeletion.State?
    for _ in 0..<10 where state != .finished {
      let server = random.pick(servers)
      state = try await server.continueDeletions()?.state
      try await server.dispatchAll()
    }
    #expect(state == .finished, comment)
    people[place] = try await makePerson(isOwner: person.model != nil)
    for index in people.indices { people[index].model?.delete(user: person.name) }
    for user in people where user.name != people[place].name {
      let hasLost = person.model?.shares.values.contains { $0[user.name]?.isAccepted == true }
      let deletions = try await log(of: user).count { entry in
        entry.notification.change.event == .zoneDeleted
          && entry.notification.change.zoneID == person.zone
      }
      #expect(deletions == (hasLost == true ? 1 : 0), "\(user.account): \(comment)")
      #expect(
        try await !random.pick(user.atServers).zones().contains(person.zone),
        "\(user.account): \(comment)")
    }
    try await checkAll()
  }

  private func log(of user: Person) async throws -> [LogEntry] {
    var entries: [LogEntry] = []
    var token: String?
    while true {
      let page = try await servers[0].store.notificationLog.notificationLog(
        of: Recipient(
          userRecordName: user.name, container: TestStore.container, environment: .development),
        since: token, limit: 1_000)
      for case .unread(let entry) in page.notifications { entries.append(entry) }
      guard page.moreComing else { return entries }
      token = page.token
    }
  }

  // MARK: Checks

  /// Compares all zones with their models.
  mutating func checkAll() async throws {
    for owner in people where owner.model != nil { try await check(owner) }
  }

  /// Compares all that users see of an owner's zone with its model.
  private mutating func check(_ owner: Person) async throws {
    guard let model = owner.model else { return }
    for user in people where user.name != owner.name {
      let here = random.pick(user.atServers)
      let found = try await here.test.store.records.records(
        Self.all.map { RecordID(recordName: $0, zoneID: owner.zone) }, in: here.sharedID)
      let seen = Set(found.compactMap { $0?.recordID.recordName })
      #expect(seen == model.seen(by: user.name), "\(user.account): \(comment)")
      #expect(
        try await here.zones().contains(owner.zone) == !seen.isEmpty, "\(user.account): \(comment)")
      guard !seen.isEmpty else { continue }
      #expect(
        try await Set(here.found(in: owner.zone)) == seen.intersection(Self.names),
        "\(user.account): \(comment)")
    }
    let here = random.pick(owner.atServers)
    let owned = try await here.test.store.records.records(
      Self.names.map { RecordID(recordName: $0, zoneID: Self.zone) }, in: here.privateID)
    var parents: [String: String?] = [:]
    for record in owned.compactMap(\.self) {
      parents[record.recordID.recordName] = .some(record.parent?.recordName)
    }
    #expect(parents == model.records, comment)
    for record in owned.compactMap(\.self) {
      let name = record.recordID.recordName
      #expect(record.deleteSelfTargets.first == model.targets[name], "\(name): \(comment)")
    }
  }
}
