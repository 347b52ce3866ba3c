/// A value in memory of its own.
///
/// A type that seldom has a large value keeps the value in a box. The value then takes one machine
/// word of the type, and a copy of the type retains one object in place of many.
indirect enum Boxed<Value: Sendable & Hashable>: Sendable, Hashable {
  case boxed(Value)

  init(_ value: Value) {
    self = .boxed(value)
  }

  var value: Value {
    switch self {
    case .boxed(let value): value
    }
  }
}
