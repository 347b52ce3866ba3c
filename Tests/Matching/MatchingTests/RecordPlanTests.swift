import CloudKitModel
import Testing

@testable import Matching

struct RecordPlanTests {
  private typealias Asked = RecordPlan.Step.Asked

  private func paths(_ key: FieldKey, _ shapes: [Path.Shape], from number: UInt32) -> FieldPaths {
    var paths = FieldPaths(key)
    for (offset, shape) in shapes.enumerated() {
      paths.add(Path(field: key, shape: shape), number: number + UInt32(offset))
    }
    return paths
  }

  private func asked(_ plan: RecordPlan, of field: RecordPlan.Field) -> [Asked] {
    plan.steps[field.steps].map(\.asked)
  }

  @Test("Fields come in the order of their names, those of the system apart, others not at all")
  func order() {
    var circle = FieldPaths(.field("place"))
    circle.circles = 1
    let plan = RecordPlan([
      paths(.field("b"), [.value], from: 10), paths(.system(.parent), [.value], from: 20),
      FieldPaths(.field("unasked")), circle, paths(.allText, [.word], from: 30),
      paths(.field("a"), [.element, .absence], from: 40),
    ])
    #expect(plan.names == ["a", "b", "place"])
    #expect(plan.named.map(\.number) == [5, 0, 3])
    #expect(plan.named.map(\.asksForPlace) == [false, false, true])
    #expect(plan.named.map { asked(plan, of: $0) } == [[.element, .absence], [.value], []])
    #expect(plan.system.map(\.key) == [.parent])
    #expect(plan.system.map { plan.steps[$0.field.steps].map(\.path) } == [[20]])
    #expect(plan.allText == 30)
  }

  @Test("The dyadicIntervals of an ordered value come right behind it")
  func dyadicIntervals() {
    var field = FieldPaths(.field("a"))
    field.ordered = [
      .init(kind: .number, number: 7), .init(kind: .text(.caseInsensitive), number: 8),
    ]
    let shapes: [Path.Shape] = [
      .dyadicInterval(.number, level: 3), .dyadicInterval(.text(.caseInsensitive), level: 5),
      .dyadicInterval(.number, level: 1),
    ]
    for (number, shape) in shapes.enumerated() {
      field.add(Path(field: .field("a"), shape: shape), number: UInt32(number))
    }
    let plan = RecordPlan([field])
    #expect(
      plan.steps.map(\.asked) == [
        .number, .dyadicInterval, .dyadicInterval, .text, .dyadicInterval,
      ])
    #expect(plan.steps.map(\.path) == [7, 0, 2, 8, 1])
    #expect(plan.steps.map(\.level) == [0, 3, 1, 0, 5])
    #expect(plan.steps[3].options == .caseInsensitive)

    field.remove(Path(field: .field("a"), shape: shapes[0]), number: 0)
    #expect(RecordPlan([field]).steps.map(\.path) == [7, 2, 8, 1])
  }

  @Test("Beginnings are asked for in each of their lengths, from the shortest on")
  func lengths() {
    let path = Path(field: .field("a"), shape: .prefix)
    let other = Path(field: .field("a"), shape: .prefix, options: .caseInsensitive)
    var field = FieldPaths(.field("a"))
    for (path, number) in [(path, 1), (other, 2)] as [(Path, UInt32)] {
      field.add(path, number: number)
    }
    func count(_ length: Int, _ path: Path, _ number: UInt32, isNew: Bool) -> Bool {
      field.count(length: length, of: path, number: number, isNew: isNew)
    }
    #expect([5, 2, 5, 9].map { count($0, path, 1, isNew: true) } == [true, true, false, true])
    #expect(count(4, other, 2, isNew: true))
    #expect(!count(5, path, 1, isNew: false) && count(9, path, 1, isNew: false))
    let plan = RecordPlan([field])
    #expect(plan.steps.map { step in step.lengths.map { plan.lengths[$0] } } == [[2, 5], [4]])
  }
}
