import JSONCoding

/// A JSON value with a place in it where something else can stand.
struct GrownJSON {
  /// A step into a value.
  enum Step: Hashable {
    case member(String)
    case element(Int)
  }

  let value: JSONValue
  let place: [Step]

  /// The value with each of its places: itself, and all that it holds.
  static func places(in value: JSONValue) -> [GrownJSON] {
    steps(in: value).map { GrownJSON(value: value, place: $0) }
  }

  private static func steps(in value: JSONValue) -> [[Step]] {
    var places: [[Step]] = [[]]
    switch value {
    case .array(let elements):
      for (index, element) in elements.enumerated() {
        places += steps(in: element).map { [.element(index)] + $0 }
      }
    case .object(let members):
      for (name, member) in members.sorted(by: { $0.key < $1.key }) {
        places += steps(in: member).map { [.member(name)] + $0 }
      }
    case .null, .bool, .int, .double, .string: break
    }
    return places
  }

  /// Such as `operations[0].record`.
  var path: String {
    place.reduce(into: "") { path, step in
      switch step {
      case .member(let name): path += (path.isEmpty ? "" : ".") + name
      case .element(let index): path += "[\(index)]"
      }
    }
  }

  /// The text of the value with `text` at the place.
  func text(with text: String) -> String { Self.text(of: value, at: place[...], with: text) }

  /// The text of the value with what stands at the place as often as `size` bytes hold it; nil where
  /// it is no element of an array.
  func text(repeatedTo size: Int) -> String? {
    guard case .element = place.last, let element = Self.value(in: value, at: place[...]) else {
      return nil
    }
    let text = element.text
    let count = max(1, size / (text.utf8.count + 1))
    return self.text(with: Array(repeating: text, count: count).joined(separator: ","))
  }

  private static func value(in value: JSONValue, at place: ArraySlice<Step>) -> JSONValue? {
    guard let step = place.first else { return value }
    switch (step, value) {
    case (.member(let name), .object(let members)):
      return members[name].flatMap { Self.value(in: $0, at: place.dropFirst()) }
    case (.element(let index), .array(let elements)):
      return Self.value(in: elements[index], at: place.dropFirst())
    default: return nil
    }
  }

  private static func text(
    of value: JSONValue, at place: ArraySlice<Step>, with text: String
  ) -> String {
    guard let step = place.first else { return text }
    let rest = place.dropFirst()
    switch (step, value) {
    case (.member(let name), .object(let members)):
      let texts = members.map { key, member in
        HostileShape.literal(key) + ":"
          + (key == name ? Self.text(of: member, at: rest, with: text) : member.text)
      }
      return "{" + texts.joined(separator: ",") + "}"
    case (.element(let index), .array(let elements)):
      let texts = elements.enumerated().map {
        $0 == index ? Self.text(of: $1, at: rest, with: text) : $1.text
      }
      return "[" + texts.joined(separator: ",") + "]"
    default: return value.text
    }
  }
}
