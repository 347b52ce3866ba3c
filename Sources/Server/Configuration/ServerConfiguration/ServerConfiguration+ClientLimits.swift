import CloudKitModel
import HTTPService
import JSONCoding
import Settings

extension ServerConfiguration {
  /// The limits that clients of this server have to keep to, as `server/limits` answers them: those of
  /// ``ServiceLimits``, and those of the configuration.
  ///
  /// A client's pace and its share are there, so that it can keep to them before it is refused. What protects
  /// the server from those who attack it is not: rates and connections of addresses, the rate of an API token,
  /// which all clients of an app use up together, waiting pushes, and memory. An honest client cannot keep to them,
  /// for it does not see what others do; an attacker would learn how much is just enough.
  public var clientLimits: [ServiceLimit] {
    let connection = HTTPServer.Configuration()
    return ServiceLimits.all + [
      .init("requestTargetSize", connection.maximumTargetSize, .bytes),
      .init("requestHeaderSize", connection.maximumHeaderSize, .bytes),
    ] + rates + Self.limits(ConfigurationKey.all, Self.settings.shown(self))
  }

  private var rates: [ServiceLimit] {
    let told: [(RequestRate.Subject, String)] = [
      (.user, "requestsPerUser"), (.serverKey, "requestsPerServerKey"),
    ]
    return told.flatMap { subject, name -> [ServiceLimit] in
      guard let rate = limits.requestRates[subject] else { return [] }
      return [
        .init(name, rate.perSecond, .requestsPerSecond), .init(name + "AtOnce", rate.burst, .count),
      ]
    }
  }

  /// Those of settings that name one. Settings without a value are not limited.
  private static func limits(_ keys: [ConfigurationKey], _ inForce: JSONValue) -> [ServiceLimit] {
    keys.flatMap { key -> [ServiceLimit] in
      guard let value = inForce[key.name] else { return [] }
      switch key.kind {
      case .object(let keys): return limits(keys, value)
      case .whole(_, let unit), .number(_, let unit):
        guard let name = key.clientLimit, let number = value.double else { return [] }
        return [.init(name, number, ServiceLimit.Unit(unit))]
      default: return []
      }
    }
  }
}

extension ServiceLimit.Unit {
  fileprivate init(_ unit: SettingUnit) {
    switch unit {
    case .bytes: self = .bytes
    case .seconds: self = .seconds
    case .days: self = .days
    case .count: self = .count
    }
  }
}
