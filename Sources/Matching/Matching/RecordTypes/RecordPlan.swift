import CloudKitModel

/// The list of steps by which matching reads from a record the facts that the entries of its record
/// type compare.
///
/// The plan lists the record's own fields in the order of their names, as a record does. Matching
/// therefore reads the record and the plan side by side, in flat arrays. The index makes a new plan
/// when the paths of its entries change (``Path``), or the lengths of their prefixes, or their
/// distance filters.
struct RecordPlan: Sendable {
  /// One kind of fact to read from the value of a field. A step has 16 bytes.
  struct Step: BitwiseCopyable, Sendable {
    /// The kind of the fact.
    enum Asked: UInt8 {
      /// From `value` to `cell`: a point on a path with the shape of the same name
      /// (``Path/Shape``). `number`, `timestamp` and `text`: an ordered value. `dyadicInterval`: a dyadic interval
      /// (``DyadicIntervals``) of the ordered value of the step before.
      case value, element, word, prefix, elementPrefix, cell, number, timestamp, text,
        dyadicInterval
      /// The point for "no value".
      case absence
    }

    let asked: Asked
    let level: UInt8
    private let rawOptions: UInt8
    /// The number of the ``Path``; for an ordered value, the number of the ``OrderedPath``.
    let path: UInt32
    /// The index of the first prefix length in ``RecordPlan/lengths``.
    private let firstLength: UInt32
    /// The number of prefix lengths; 0 for other kinds of facts.
    private let lengthCount: UInt32

    /// The options by which a text is folded (such as to lower case) before it is compared.
    var options: Filter.Options { Filter.Options(rawValue: rawOptions) }
    /// The indices of the prefix lengths in ``RecordPlan/lengths``.
    var lengths: Range<Int> { Int(firstLength)..<Int(firstLength) + Int(lengthCount) }

    /// Creates a step.
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

  /// A field that at least one step reads, or whose place an entry compares.
  struct Field: BitwiseCopyable, Sendable {
    let number: Int
    fileprivate let firstStep: Int
    fileprivate let stepCount: Int
    /// Whether an entry compares the distance from the field's place to a center.
    let asksForPlace: Bool

    var steps: Range<Int> { firstStep..<firstStep + stepCount }
  }

  private(set) var steps: [Step] = []
  /// The prefix lengths in bytes, in ascending order for each step.
  private(set) var lengths: [Int] = []
  /// The names of the record's own fields in the plan, in ascending order.
  private(set) var names: [String] = []
  private(set) var named: [Field] = []
  private(set) var system: [(key: SystemField, field: Field)] = []
  /// The number of the path of the words of all text; `nil` if no entry searches all text.
  private(set) var allText: UInt32?

  init() {}

  /// Creates the plan of some fields.
  ///
  /// - Parameter fields: The paths of each field, by the field's number in the index.
  /// - Complexity: O(*n* log *n*), where *n* is the number of paths of all fields.
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
      // The dyadic intervals follow the ordered value that they belong to.
      steps += ordered.dyadicIntervals.map { Step(.dyadicInterval, path: $0.path, level: $0.level) }
    }
  }
}
