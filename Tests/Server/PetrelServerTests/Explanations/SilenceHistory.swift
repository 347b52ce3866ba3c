import CloudKitModel
import Foundation
import PropertyTesting
import Storage
import StoreModel
import Testing
import Waiting

@testable import PetrelServer

/// Makes a random history of subscriptions and changes in one database, and keeps what it did.
struct SilenceHistory {
  enum Person: CaseIterable {
    case alice, bob
  }

  enum Wish: Hashable {
    /// With the zone, or all zones.
    case query(
      type: String, zone: String?, events: Set<ChangeEvent>, most: Int? = nil, isOnce: Bool = false)
    case zone(String, type: String?)
    case database(type: String?)

    var isOnce: Bool { if case .query(_, _, _, _, true) = self { true } else { false } }
  }

  struct PastChange {
    var step: Int
    var record: RecordID
    var type: String
    var event: ChangeEvent
    var creator: Person
    var number: Int
    /// Whether its values were too large to be kept.
    var isLarge: Bool
    /// Whether all might read notes.
    var isOpen: Bool
  }

  struct Place: Hashable {
    var environment: ContainerEnvironment
    var scope: DatabaseScope
  }

  static let defaultZone = ZoneID.defaultZoneName
  static let types = ["Note", "Task"]
  static let events: [ChangeEvent] = [.recordCreated, .recordUpdated, .recordDeleted]
  static let stepSeconds = 10.0
  static let largeBytes = 4_000
  private static let words: [ChangeEvent: String] = [
    .recordCreated: "create", .recordUpdated: "update", .recordDeleted: "delete",
  ]

  let seed: Int
  let place: Place
  var scope: DatabaseScope { place.scope }
  var random: SeededGenerator
  var now = 0
  private var records: [RecordID: (type: String, creator: Person, number: Int, isLarge: Bool)] = [:]
  var changes: [PastChange] = []
  /// The contents of each subscription, each with the step from which on it applied; `nil` from its
  /// deletion or only firing on.
  var wishes: [Person: [String: [(step: Int, wish: Wish?)]]] = [:]
  /// Where there are subscriptions beside those.
  var elsewhere: [Person: [String: Set<Place>]] = [:]
  var isOpen = false
  /// The last step whose notifications are not in the log any more.
  var lastTrimmed = 0

  init(seed: Int, environment: ContainerEnvironment, scope: DatabaseScope) {
    self.seed = seed
    place = Place(environment: environment, scope: scope)
    random = SeededGenerator(seed: seed)
  }

  private var zones: [String] {
    scope == .private ? [Self.defaultZone, "Home", "Work"] : [Self.defaultZone]
  }
  /// The private database has one.
  var people: [Person] { scope == .private ? [.alice] : Person.allCases }

  func user(_ person: Person, of service: Service) -> TestUser {
    switch person {
    case .alice: service.alice
    case .bob: service.bob
    }
  }

  func database(of service: Service) async throws -> DatabaseID {
    try await service.store.databases.database(
      at: DatabaseAddress(
        container: Service.container, environment: place.environment, scope: scope,
        owner: scope == .private ? service.alice.recordName : nil))
  }

  // MARK: Making it

  mutating func begin(at service: Service) async throws {
    try await service.restart { $0.changeHistory.changeBytes = Self.largeBytes / 2 }
    // Production has what development has had.
    for (number, type) in (Self.types + ["Other"]).enumerated() {
      let answer = try await service.modify(
        Service.operation(
          "create", "of\(type)", #""n": {"value": 0}, "text": {"value": ""}"#, type: type),
        in: "private")
      try #require(answer.outcomes == ["ok"], "\(answer.json)")
      // Each set of events is a subscription type of its own.
      for bits in 1..<8 {
        let events = Self.events.enumerated().filter { bits & 1 << $0.offset != 0 }.map(\.element)
        for most in [nil, 0] {
          try await save(
            .query(type: type, zone: nil, events: Set(events), most: most),
            "of\(number)-\(bits)-\(most == nil)", of: .alice,
            in: Place(environment: .development, scope: .public), at: service)
        }
      }
    }
    for zone in ["Home", "Work"] { try await makeZone(zone, in: .development, at: service) }
    for (name, wish) in [
      ("zone", Wish.zone("Home", type: nil)), ("all", .database(type: nil)),
    ] {
      try await save(
        wish, name, of: .alice, in: Place(environment: .development, scope: .private), at: service)
    }
    let key = try await service.addAdminKey()
    let deployed = try await service.adminPost(
      "schema/deploy", ["container": .string(Service.container)], key: key)
    try #require(deployed.status == 200, "\(deployed.json)")
    if place.environment == .production {
      for zone in zones where zone != Self.defaultZone {
        try await makeZone(zone, in: .production, at: service)
      }
    }
    if scope == .public { try await setGrants(at: service) }
    // A subscription that fires once stays while there is nobody to send to.
    for person in people {
      try await service.store.devices.saveDeviceToken(
        DeviceToken(
          kind: .courier, token: "reader-of-\(person)", container: Service.container,
          environment: place.environment, apnsEnvironment: .development,
          userRecordName: user(person, of: service).recordName, deviceID: nil,
          registered: service.clock.read()))
    }
    // Of a database without subscriptions no changes are kept.
    try await save(
      .query(type: "Other", zone: nil, events: [.recordCreated]), "other",
      of: .alice, in: place, at: service)
  }

  private func makeZone(
    _ zone: String, in environment: ContainerEnvironment, at service: Service
  ) async throws {
    let answer = try await service.post(
      "private/zones/modify",
      #"{"operations": [{"operationType": "create", "zone": {"zoneID": {"zoneName": "\#(zone)"}}}]}"#,
      as: service.alice, in: environment)
    try #require(answer.outcomes == ["ok"], "\(answer.json)")
  }

  /// A note of the public database is for its creator alone, or open to all.
  private func setGrants(at service: Service) async throws {
    try await service.grant(
      RecordGrants([
        "_creator": [.read, .write], "_icloud": .create, "_world": isOpen ? .read : [],
      ]), in: place.environment)
  }

  mutating func step(at service: Service) async throws {
    now += 1
    service.clock.advance(bySeconds: Self.stepSeconds)
    switch Int.random(in: 0..<12, using: &random) {
    case 0...2: try await subscribe(at: service)
    case 3: try await unsubscribe(at: service)
    case 4: try await subscribeElsewhere(at: service)
    case 5 where scope == .public:
      isOpen.toggle()
      try await setGrants(at: service)
    default: try await change(at: service)
    }
  }

  private mutating func subscribe(at service: Service) async throws {
    let (person, id) = (random.pick(people), random.pick(["x", "y", "z"]))
    let wish = wish()
    try await save(wish, id, of: person, in: place, at: service)
    wishes[person, default: [:]][id, default: []].append((now, wish))
  }

  /// In another database of the container, with a name that this one may have too.
  private mutating func subscribeElsewhere(at service: Service) async throws {
    let other = Place(
      environment: random.pick(ContainerEnvironment.allCases),
      scope: random.pick([DatabaseScope.public, .private]))
    guard other != place else { return }
    let (person, id) = (random.pick(people), random.pick(["x", "y", "z", "v", "w"]))
    try await save(
      .query(type: "Note", zone: nil, events: [.recordCreated]), id, of: person,
      in: other, at: service)
    elsewhere[person, default: [:]][id, default: []].insert(other)
  }

  private mutating func wish() -> Wish {
    let type: String? = random.chance(1, in: 2) ? nil : random.pick(Self.types)
    // The public database has query subscriptions only.
    switch scope == .public ? 0 : Int.random(in: 0..<4, using: &random) {
    case 2: return .zone(random.pick(zones.filter { $0 != Self.defaultZone }), type: type)
    case 3: return .database(type: type)
    default:
      let events = Self.events.filter { _ in random.chance(2, in: 3) }
      return .query(
        type: random.pick(Self.types), zone: random.chance(1, in: 2) ? nil : random.pick(zones),
        events: events.isEmpty ? [.recordUpdated] : Set(events),
        most: random.chance(1, in: 2) ? Int.random(in: 0..<10, using: &random) : nil,
        isOnce: random.chance(1, in: 3))
    }
  }

  private func save(
    _ wish: Wish, _ id: String, of person: Person, in place: Place, at service: Service
  ) async throws {
    func zone(_ name: String?) -> String {
      name.map { #""zoneID": {"zoneName": "\#($0)"}"# } ?? #""zoneWide": true"#
    }
    func filter(_ most: Int) -> String {
      """
      {"fieldName": "n", "comparator": "LESS_THAN_OR_EQUALS",
       "fieldValue": {"value": \(most), "type": "INT64"}}
      """
    }
    let members =
      switch wish {
      case .query(let type, let name, let events, let most, let isOnce):
        """
        "subscriptionType": "query",
        "query": {"recordType": "\(type)", "filterBy": [\(most.map(filter) ?? "")]}, \(zone(name)),
        "firesOn": [\(events.compactMap { Self.words[$0] }.map { "\"\($0)\"" }.joined(separator: ", "))],
        "firesOnce": \(isOnce)
        """
      case .zone(let name, let type):
        #""subscriptionType": "zone", \#(zone(name))\#(type.map { #", "recordType": "\#($0)""# } ?? "")"#
      case .database(let type):
        #""subscriptionType": "database"\#(type.map { #", "recordType": "\#($0)""# } ?? "")"#
      }
    let answer = try await service.post(
      "\(place.scope)/subscriptions/modify",
      #"{"operations": [{"operationType": "create", "subscription": {"subscriptionID": "\#(id)", \#(members)}}]}"#,
      as: user(person, of: service), in: place.environment)
    try #require(answer.outcomes == ["ok"], "seed \(seed): \(answer.json)")
  }

  private mutating func unsubscribe(at service: Service) async throws {
    let (person, id) = (random.pick(people), random.pick(["x", "y", "z"]))
    guard wishes[person]?[id]?.last?.wish != nil else { return }
    let answer = try await service.post(
      "\(scope)/subscriptions/modify",
      #"{"operations": [{"operationType": "delete", "subscription": {"subscriptionID": "\#(id)"}}]}"#,
      as: user(person, of: service), in: place.environment)
    try #require(answer.status == 200, "seed \(seed): \(answer.json)")
    wishes[person]?[id]?.append((now, nil))
  }

  private mutating func change(at service: Service) async throws {
    let zone = random.pick(zones)
    let record = RecordID(recordName: random.pick(["p", "q"]), zoneID: ZoneID(zoneName: zone))
    let old = records[record]
    var made = PastChange(
      step: now, record: record, type: old?.type ?? random.pick(Self.types),
      event: old == nil ? .recordCreated : .recordUpdated,
      creator: old?.creator ?? random.pick(people),
      number: Int.random(in: 0..<10, using: &random), isLarge: random.chance(1, in: 5),
      isOpen: isOpen
    )
    var kind = "forceUpdate"
    if let old, random.chance(1, in: 3) {
      (kind, made.event) = ("forceDelete", .recordDeleted)
      (made.number, made.isLarge) = (old.number, old.isLarge)
    }
    let text = String(repeating: "x", count: made.isLarge ? Self.largeBytes : 1)
    let operation = Service.operation(
      kind, record.recordName,
      #""n": {"value": \#(made.number), "type": "INT64"}, "text": {"value": "\#(text)"}"#,
      zone: zone == Self.defaultZone ? nil : zone, type: made.type)
    let answer = try await service.post(
      "\(scope)/records/modify", #"{"operations": [\#(operation)], "atomic": true}"#,
      as: user(made.creator, of: service), in: place.environment)
    let isDeletion = made.event == .recordDeleted
    try #require(answer.outcomes == [isDeletion ? "deleted" : "ok"], "seed \(seed): \(answer.json)")
    records[record] = isDeletion ? nil : (made.type, made.creator, made.number, made.isLarge)
    changes.append(made)
    try await eventually("the change is dispatched") {
      try await explanations(of: record, at: service).first?.dispatched != nil
    }
    for (person, ids) in wishes {
      for (id, states) in ids {
        guard let wish = states.last?.wish, wish.isOnce,
          reasons(against: wish, of: person, for: made, isOpen: isOpen).isEmpty
        else { continue }
        wishes[person]?[id]?.append((now, nil))
      }
    }
  }
}
