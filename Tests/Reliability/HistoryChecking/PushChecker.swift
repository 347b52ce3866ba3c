/// Whether each line of the log was pushed to each device that should have it, under one name.
struct PushChecker {
  private let history: History
  private var violations: [Violation] = []

  init(_ history: History) {
    self.history = history
  }

  private struct Told: Hashable {
    var notificationID: String
    var subscriptionID: String
  }

  private struct Place: Hashable {
    var told: Told
    var token: String
  }

  mutating func check() -> [Violation] {
    var names: [Place: Set<String>] = [:]
    var places: [String: Set<Place>] = [:]
    var accepted: Set<Place> = []
    for push in history.pushes {
      let place = Place(
        told: Told(notificationID: push.notificationID, subscriptionID: push.subscriptionID),
        token: push.token)
      names[place, default: []].insert(push.apnsID)
      places[push.apnsID, default: []].insert(place)
      if push.isAccepted { accepted.insert(place) }
    }
    for (place, names) in names where names.count > 1 {
      violations.append(
        Violation(
          .atLeastOnce,
          "the push of \(place.told.notificationID) for \(place.told.subscriptionID) has the apns-ids "
            + names.sorted().joined(separator: ", ")))
    }
    for (name, places) in places where places.count > 1 {
      violations.append(Violation(.atLeastOnce, "\(places.count) pushes have the apns-id \(name)"))
    }
    let devices = Dictionary(grouping: history.devices, by: \.user)
    let owners = Dictionary(
      history.devices.map { ($0.token, $0) }, uniquingKeysWith: { one, _ in one })
    let writes = history.writesByMark
    var logged: [Told: (user: String, write: RecordWrite?)] = [:]
    for log in history.logs where log.isLast {
      for entry in log.entries {
        let told = Told(
          notificationID: entry.notificationID, subscriptionID: entry.subscriptionID)
        let write = entry.mark.flatMap { writes[$0] }
        logged[told] = (log.user, write)
        guard let write else { continue }
        for device in devices[log.user] ?? []
        where device.span.isBefore(write.span) && !isOrigin(device, of: write) {
          if accepted.contains(Place(told: told, token: device.token)) { continue }
          violations.append(
            Violation(
              .atLeastOnce,
              "\(device.device) of \(log.user) got no push of \(write.mark ?? "") for \(entry.subscriptionID)"
            ))
        }
      }
    }
    for place in names.keys {
      guard let owner = owners[place.token] else { continue }
      guard let (user, write) = logged[place.told] else {
        violations.append(
          Violation(
            .atLeastOnce,
            "\(owner.device) of \(owner.user) got a push for \(place.told.subscriptionID) that is in no log"
          ))
        continue
      }
      if user != owner.user {
        violations.append(
          Violation(
            .onlyWhatMayBeRead,
            "\(owner.device) of \(owner.user) got a push that is for \(user)"))
      } else if let write, isOrigin(owner, of: write) {
        violations.append(
          Violation(
            .notToTheOrigin, "\(owner.device) of \(owner.user) got a push for its own save")
        )
      }
    }
    return violations
  }

  private func isOrigin(_ device: DeviceRegistration, of write: RecordWrite) -> Bool {
    device.user == write.user && device.device == write.device
  }
}
