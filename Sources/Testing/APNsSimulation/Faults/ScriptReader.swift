import JSONCoding

/// A reader of one JSON value in a simulator's script; most of these values are objects. Its errors
/// have the code ``APNsSimulationError/Code/invalidScript`` and name the place of the value in the
/// script.
///
/// The file `ScriptReader+Steps.swift` reads the settings and steps of a script.
struct ScriptReader {
  /// The value. ``allow(_:)`` and ``step()`` refuse a value that is not an object. For such a
  /// value, the other methods return nil, an empty list or false.
  let json: JSONValue
  /// The place of the value in the script, such as `steps[2]`; empty for the whole script. For an
  /// element of a nested list, the place is, for example, `steps[2]: handshakes[0]`.
  let place: String

  init(_ json: JSONValue, place: String) {
    self.json = json
    self.place = place
  }

  /// Returns an error whose text begins with the place.
  func mistake(_ text: String) -> APNsSimulationError {
    APNsSimulationError(.invalidScript, place.isEmpty ? text : "\(place): \(text)")
  }

  /// Checks that the value is an object without unknown keys.
  func allow(_ known: [String]) throws(APNsSimulationError) {
    guard let members = json.object else { throw mistake("must be an object, not \(json.kind)") }
    for key in members.keys.sorted() where !known.contains(key) {
      throw mistake("unknown key '\(key)'; known are \(known.joined(separator: ", "))")
    }
  }

  func string(_ key: String) throws(APNsSimulationError) -> String? {
    guard let value = json[key] else { return nil }
    guard let string = value.string else {
      throw mistake("'\(key)' must be a string, not \(value.kind)")
    }
    return string
  }

  func bool(_ key: String) throws(APNsSimulationError) -> Bool? {
    guard let value = json[key] else { return nil }
    guard let bool = value.bool else {
      throw mistake("'\(key)' must be true or false, not \(value.kind)")
    }
    return bool
  }

  func int(_ key: String, in range: ClosedRange<Int64>) throws(APNsSimulationError) -> Int? {
    guard let value = json[key] else { return nil }
    guard let int = value.int, range.contains(int) else {
      throw mistake(
        "'\(key)' must be a whole number from \(range.lowerBound) to \(range.upperBound)")
    }
    return Int(int)
  }

  /// Returns a number of seconds in a range, fractions allowed; nil if the key is missing or its
  /// value is `null`.
  func seconds(_ key: String, in range: ClosedRange<Double>) throws(APNsSimulationError) -> Double?
  {
    guard let value = json[key] else { return nil }
    guard let number = value.double, range.contains(number) else {
      throw mistake(
        "'\(key)' must be a number of seconds from \(range.lowerBound) to \(range.upperBound)")
    }
    return number
  }

  /// Empty if the key is missing or its value is `null`.
  func list(_ key: String) throws(APNsSimulationError) -> [ScriptReader] {
    guard let value = json[key] else { return [] }
    guard let list = value.array else {
      throw mistake("'\(key)' must be a list, not \(value.kind)")
    }
    let path = place.isEmpty ? key : "\(place): \(key)"
    return list.enumerated().map { ScriptReader($1, place: "\(path)[\($0)]") }
  }

  /// Whether the key is present with the value `null`. The other methods treat such a key as
  /// missing. For some settings, `null` removes a limit or a delay.
  func isNull(_ key: String) -> Bool { json.object?[key] == .null }
}
