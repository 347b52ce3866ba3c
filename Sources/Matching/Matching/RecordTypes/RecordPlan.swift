import CloudKitModel

/// What the entries of a record type ask of records, as one row of steps in the order in which a
/// record's fields come. It is made anew when the entries ask for something else, so that to match
/// goes through plain memory only.
struct RecordPlan: Sendable {
  /// One thing that is asked of a value.
  struct Step: BitwiseCopyable, Sendable {
    enum Asked: UInt8 {
      case value, element, word, prefix, elementPrefix, cell, number, timestamp, text, stretch
      case absence
    }

    let asked: Asked
    let level: UInt8
    private let rawOptions: UInt8
    /// The number of the path or, where an ordered value is asked for, of the ordered path.
    let path: UInt32
    /// Where the lengths of beginnings are.
    private let firstLength: UInt32
    private let lengthCount: UInt32

    var options: Filter.Options { Filter.Options(rawValue: rawOptions) }
    var lengths: Range<Int> { Int(firstLength)..<Int(firstLength) + Int(lengthCount) }

    init(
      _ asked: Asked, path: UInt32, level: UInt8 = 0, options: Filter.Options = [],
      lengths: Range<Int> = 0..<0
    ) {
      self.asked = asked
      self.path = path
      self.level = level
      rawOptions = options.rawValue
      firstLength = UInt32(lengths.lowerBound)
      lengthCount = UInt32(lengths.count)
    }
  }

  /// A field of which something is asked.
  struct Field: BitwiseCopyable, Sendable {
    /// The field's number in the index.
    let number: Int
    fileprivate let firstStep: Int
    fileprivate let stepCount: Int
    let asksForPlace: Bool

    var steps: Range<Int> { firstStep..<firstStep + stepCount }
  }

  private(set) var steps: [Step] = []
  /// The lengths of beginnings, rising for each step.
  private(set) var lengths: [Int] = []
  /// The record's own fields, in the order of their names.
  private(set) var names: [String] = []
  private(set) var named: [Field] = []
  private(set) var system: [(key: SystemField, field: Field)] = []
  /// The path of words of all text.
  private(set) var allText: UInt32?

  init() {}

  init(_ fields: [FieldPaths]) {
    var named: [(name: String, field: Field)] = []
    for (number, paths) in fields.enumerated() {
      if paths.key == .allText {
        allText = paths.words
        continue
      }
      let first = steps.count
      add(paths)
      let asksForPlace = paths.circles > 0
      guard steps.count > first || asksForPlace else { continue }
      let field = Field(
        number: number, firstStep: first, stepCount: steps.count - first,
        asksForPlace: asksForPlace)
      switch paths.key {
      case .field(let name): named.append((name, field))
      case .system(let key): system.append((key, field))
      case .allText: continue
      }
    }
    named.sort { $0.name < $1.name }
    names = named.map(\.name)
    self.named = named.map(\.field)
  }

  private mutating func add(_ paths: FieldPaths) {
    steps += paths.values.map { Step(.value, path: $0.path, options: $0.options) }
    steps += paths.elements.map { Step(.element, path: $0.path, options: $0.options) }
    for (asked, prefixes) in [
      (Step.Asked.prefix, paths.prefixes), (.elementPrefix, paths.elementPrefixes),
    ] {
      for prefix in prefixes {
        let first = lengths.count
        lengths += prefix.lengths.numbers
        steps.append(
          Step(
            asked, path: prefix.path, options: prefix.options, lengths: first..<lengths.count))
      }
    }
    if let path = paths.words { steps.append(Step(.word, path: path)) }
    if let path = paths.absence { steps.append(Step(.absence, path: path)) }
    steps += paths.cells.map { Step(.cell, path: $0.path, level: $0.level) }
    for ordered in paths.ordered {
      let (asked, options): (Step.Asked, Filter.Options) =
        switch ordered.kind {
        case .number: (.number, [])
        case .timestamp: (.timestamp, [])
        case .text(let options): (.text, options)
        }
      steps.append(Step(asked, path: UInt32(ordered.number), options: options))
      // They come right behind the value whose stretches they are.
      steps += ordered.stretches.map { Step(.stretch, path: $0.path, level: $0.level) }
    }
  }
}
