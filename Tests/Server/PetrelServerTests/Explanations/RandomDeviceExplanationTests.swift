import CloudKitModel
import Explanation
import Foundation
import PropertyTesting
import Storage
import StoreModel
import Testing
import Waiting
import WebPushSimulation

@testable import PetrelServer

/// Devices that come, change hands, expire and go, servers without Web Push and limits that are reached: what became of each
/// notification on its way to each device, against a plain model.
@Suite(.serialized)
struct RandomDeviceExplanationTests {
  @Test(
    "no reason why a device got no push differs from what the server did", arguments: Seeds.some(3))
  func devices(seed: Int) async throws {
    try await withPushService { service, push in
      service.clock.stop()
      var history = DeviceHistory(seed: seed)
      try await history.begin(at: service)
      for _ in 0..<80 { try await history.step(at: service, push) }
      try await history.check(at: service)
    }
  }
}

private struct DeviceHistory {
  enum Person: CaseIterable {
    case alice, bob
  }

  /// How the server runs.
  enum Mode: CaseIterable {
    case usual, withoutWebPush, fullForUsers, full
  }

  struct Period {
    var person: Person
    var deviceID: String
    var began: Int
    /// The first step at which the device was gone.
    var ended: Int?
  }

  struct Device {
    var token: String
    /// Nil for a reader of the courier.
    var browser: BrowserSubscription?
    /// The settings with which the reader registers.
    var readerText = ""
    var periods: [Period] = []
    /// Whether the push service answers the next push with 410.
    var isRefused = false

    func period(at step: Int) -> Period? {
      periods.last { $0.began <= step && step < $0.ended ?? .max }
    }
  }

  struct PastChange {
    var step: Int
    var name: String
    var person: Person
    var deviceID: String
    var mode: Mode
  }

  private static let stepSeconds = 10.0
  private static let deviceIDs = ["a", "b", "c"]

  let seed: Int
  private var random: SeededGenerator
  private var now = 0
  private var mode = Mode.usual
  private var devices: [Device] = []
  private var changes: [PastChange] = []

  init(seed: Int) {
    self.seed = seed
    random = SeededGenerator(seed: seed)
  }

  private func user(_ person: Person, of service: Service) -> TestUser {
    switch person {
    case .alice: service.alice
    case .bob: service.bob
    }
  }

  // MARK: Making it

  /// Both are interested in all that is made.
  func begin(at service: Service) async throws {
    for person in Person.allCases {
      let answer = try await service.subscribe(
        """
        {"subscriptionID": "all", "subscriptionType": "query", "zoneWide": true,
         "firesOn": ["create"], "query": {"recordType": "Note"},
         "notificationInfo": {"alertBody": "x"}}
        """, as: user(person, of: service))
      try #require(answer["serverErrorCode"] == nil, "\(answer)")
    }
  }

  mutating func step(at service: Service, _ push: SimulatedPushService) async throws {
    now += 1
    service.clock.advance(bySeconds: Self.stepSeconds)
    switch Int.random(in: 0..<12, using: &random) {
    case 0: try await makeReader(at: service)
    case 1, 2: try await registerBrowser(nil, at: service, push)
    case 3, 4: try await registerAgain(at: service, push)
    case 5: try await unregister(at: service)
    case 6: refuse(at: push)
    case 7: try await switchMode(of: service)
    case 8: try await service.store.maintenance.trim(at: service.clock.read())
    default: try await change(at: service)
    }
  }

  private mutating func makeReader(at service: Service) async throws {
    let (person, id) = (random.pick(Person.allCases), random.pick(Self.deviceIDs))
    let user = user(person, of: service)
    let known = try await service.store.devices.deviceTokens(of: user.recordName).map(\.token)
    let answer = try await service.post(
      "tokens/create", #"{"apnsEnvironment": "development", "clientId": "\#(id)"}"#, as: user)
    let text = try #require(answer.json["apnsToken"]?.string, "seed \(seed): \(answer.json)")
    let new = try await service.store.devices.deviceTokens(of: user.recordName)
      .filter { !known.contains($0.token) }
    try #require(new.count == 1, "seed \(seed)")
    devices.append(
      Device(
        token: new[0].token, readerText: text,
        periods: [Period(person: person, deviceID: id, began: now)]))
  }

  /// Registers a browser, for the first time or again.
  private mutating func registerBrowser(
    _ place: Int?, at service: Service, _ push: SimulatedPushService
  ) async throws {
    guard mode != .withoutWebPush else { return }
    let browser = try place.flatMap { devices[$0].browser } ?? push.subscribe()
    let (person, id) = (random.pick(Person.allCases), random.pick(Self.deviceIDs))
    let steps = random.chance(1, in: 3) ? Int.random(in: 1..<20, using: &random) : nil
    // Between two steps.
    let expiry = steps.map {
      service.clock.read().milliseconds + Int64((Double($0) - 0.5) * Self.stepSeconds * 1_000)
    }
    let user = user(person, of: service)
    let answer = try await service.post(
      "webPush/register",
      #"{"subscription": {"endpoint": "\#(browser.endpoint)", "keys": "#
        + #"{"p256dh": "\#(browser.p256dh)", "auth": "\#(browser.auth)"}, "expirationTime": "#
        + #"\#(expiry.map { "\($0)" } ?? "null")}, "clientId": "\#(id)"}"#, as: user)
    try #require(answer.status == 200, "seed \(seed): \(answer.json)")
    let token = try #require(
      try await service.store.devices.deviceTokens(of: user.recordName)
        .first { $0.endpoint?.url == browser.endpoint }?.token)
    if place == nil { devices.append(Device(token: token, browser: browser)) }
    begin(
      Period(person: person, deviceID: id, began: now, ended: steps.map { now + $0 }),
      of: place ?? devices.count - 1)
  }

  /// A period goes on where the same person registers the device again under the same ID.
  private mutating func begin(_ period: Period, of place: Int) {
    if let last = devices[place].periods.indices.last, let active = devices[place].period(at: now) {
      if active.person == period.person, active.deviceID == period.deviceID {
        devices[place].periods[last].ended = period.ended
        return
      }
      devices[place].periods[last].ended = now
    }
    devices[place].periods.append(period)
  }

  private mutating func registerAgain(
    at service: Service, _ push: SimulatedPushService
  ) async throws {
    guard !devices.isEmpty else { return }
    let place = random.pick(devices.indices)
    let device = devices[place]
    guard device.browser == nil else {
      return try await registerBrowser(place, at: service, push)
    }
    let period = try #require(device.period(at: now))
    let answer = try await service.post(
      "tokens/register",
      #"{"apnsToken": "\#(device.readerText)", "clientId": "\#(period.deviceID)"}"#,
      as: user(period.person, of: service))
    try #require(answer.status == 200, "seed \(seed): \(answer.json)")
  }

  private mutating func unregister(at service: Service) async throws {
    guard mode != .withoutWebPush, !devices.isEmpty else { return }
    let place = random.pick(devices.indices)
    guard let browser = devices[place].browser, let period = devices[place].period(at: now) else {
      return
    }
    let answer = try await service.post(
      "webPush/unregister", #"{"endpoint": "\#(browser.endpoint)"}"#,
      as: user(period.person, of: service))
    try #require(answer.status == 200, "seed \(seed): \(answer.json)")
    devices[place].periods[devices[place].periods.count - 1].ended = now
  }

  private mutating func refuse(at push: SimulatedPushService) {
    let places = devices.indices.filter { devices[$0].browser != nil && !devices[$0].isRefused }
    guard !places.isEmpty else { return }
    let place = random.pick(places)
    guard let browser = devices[place].browser else { return }
    push.script([.init(410)], for: browser)
    devices[place].isRefused = true
  }

  private mutating func switchMode(of service: Service) async throws {
    mode = random.pick(Mode.allCases)
    try await service.restart(configure: { [mode] configuration in
      switch mode {
      case .usual: break
      case .withoutWebPush: configuration.channels.webPush = nil
      case .fullForUsers: configuration.limits.undeliveredPushesPerUser = 0
      case .full: configuration.limits.undeliveredPushes = 0
      }
    })
  }

  private mutating func change(at service: Service) async throws {
    let made = PastChange(
      step: now, name: "n\(now)", person: random.pick(Person.allCases),
      deviceID: random.pick(Self.deviceIDs + ["d"]), mode: mode)
    let answer = try await service.modify(
      Service.operation("create", made.name), as: user(made.person, of: service),
      device: made.deviceID)
    try #require(answer.outcomes == ["ok"], "seed \(seed): \(answer.json)")
    changes.append(made)
    try await eventually("the pushes of \(made.name) have come") {
      let change = try await explanation(of: made, at: service)
      return change.dispatched != nil
        && change.notifications.flatMap(\.deliveries).allSatisfy {
          $0.delivery.state == .delivered || $0.delivery.state == .abandoned
        }
    }
    // The end of a refused device's registration is a transaction of its own, after the outcome's.
    await service.server.service.settle()
    for place in devices.indices where devices[place].isRefused {
      let isOwed = Person.allCases.contains {
        reason(against: devices[place], of: $0, for: made) == .some(nil)
      }
      guard isOwed else { continue }
      devices[place].isRefused = false
      // Its registration has an end from now on, but this change finds it there.
      devices[place].periods[devices[place].periods.count - 1].ended = now + 1
    }
  }

  private func explanation(
    of change: PastChange, at service: Service
  ) async throws -> ChangeExplanation {
    let explained = try await Explainer(store: service.store).explain(
      RecordID(recordName: change.name), in: service.publicDatabase())
    return try #require(explained.changes.first)
  }

  // MARK: Looking at it

  func check(at service: Service) async throws {
    var seen: Set<SilenceReason.Code?> = []
    for change in changes {
      let explained = try await explanation(of: change, at: service)
      #expect(explained.notifications.count == Person.allCases.count, "seed \(seed)")
      for notification in explained.notifications {
        let subscriber = notification.entry.notification.subscriber
        let person: Person = subscriber == service.alice.recordName ? .alice : .bob
        let expected = devices.compactMap { device in
          reason(against: device, of: person, for: change).map { (device.token, $0) }
        }
        let silent = Dictionary(
          grouping: notification.silentDevices, by: { $0.device ?? "none" }
        ).mapValues { $0.map(\.code) }
        var wanted: [String: [SilenceReason.Code]] = [:]
        for case (let token, let code?) in expected { wanted[token] = [code] }
        let owed = Set(expected.filter { $0.1 == nil }.map(\.0))
        if owed.isEmpty, expected.allSatisfy({ $0.1 == .deviceGone }) {
          wanted["none"] = [.noDevice]
        }
        let place: Comment = "seed \(seed): \(person), \(change), \(devices.map(\.periods))"
        #expect(silent == wanted, place)
        #expect(Set(notification.deliveries.map(\.delivery.token)) == owed, place)
        seen.formUnion(expected.map(\.1))
      }
    }
    #expect(seen.count > 2, "seed \(seed): \(seen)")
  }

  /// Nil where the device was never the person's, or not known to be; a code of nil where it was owed a push.
  private func reason(
    against device: Device, of person: Person, for change: PastChange
  ) -> SilenceReason.Code?? {
    let periods = device.periods.filter { $0.person == person }
    guard let first = periods.first else { return nil }
    guard let period = device.period(at: change.step), period.person == person else {
      return first.began > change.step ? .registeredLater : .deviceGone
    }
    if period.person == change.person, period.deviceID == change.deviceID { return .originDevice }
    if device.browser == nil { return .courier }
    return switch change.mode {
    case .usual: .some(nil)
    case .withoutWebPush: .notSetUp
    case .fullForUsers, .full: .tooManyWaiting
    }
  }
}
