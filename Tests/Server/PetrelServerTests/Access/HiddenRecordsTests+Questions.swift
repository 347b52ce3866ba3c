import PropertyTesting

@testable import PetrelServer

extension HiddenRecordsTests {
  struct Question {
    var operation: String
    /// The members of the body, but for the marker.
    var body: String
  }

  /// Random queries of the three types.
  static var queries: [Question] {
    var generator = SeededGenerator(seed: 6)
    return (0..<60).map { _ in
      let filters = (0..<generator.pick([0, 1, 1, 2])).map { _ in
        generator.chance(1, in: 2)
          ? #"{"fieldName": "n", "comparator": "\#(generator.pick(["LESS_THAN", "EQUALS", "NOT_EQUALS"]))","#
            + #" "fieldValue": {"value": \#(Int.random(in: 0..<5, using: &generator))}}"#
          : #"{"fieldName": "title", "comparator": "#
            + #""\#(generator.pick(["BEGINS_WITH", "CONTAINS_ALL_TOKENS", "GREATER_THAN"]))", "#
            + #""fieldValue": {"value": "\#(generator.pick(["a", "b", "c"]))"}}"#
      }
      let sorts = (0..<generator.pick([0, 1, 2])).map { _ in
        #"{"fieldName": "\#(generator.pick(["n", "title", "createdTimestamp"]))", "#
          + #""ascending": \#(generator.chance(1, in: 2))}"#
      }
      let type = generator.pick(["Note", "Note", "Note", "Diary", "Post"])
      return Question(
        operation: "public/records/query",
        body:
          #""query": {"recordType": "\#(type)", "filterBy": [\#(filters.joined(separator: ","))],"#
          + #" "sortBy": [\#(sorts.joined(separator: ","))]}, "#
          + #""zoneWide": \#(generator.chance(1, in: 2)), "#
          + #""resultsLimit": \#(generator.pick([1, 2, 3, 200]))"#)
    }
  }

  /// The other requests that reveal something of the database or of other users, or of records
  /// whose names are free or Bob's own.
  static var others: [Question] {
    var questions: [Question] = []
    func ask(_ operation: String, _ body: String) {
      questions.append(Question(operation: "public/" + operation, body: body))
    }
    for types in ["", #", "desiredRecordTypes": ["Note"]"#, #", "desiredRecordTypes": ["Post"]"#] {
      for limit in [1, 3, 200] {
        ask("records/changes", #""resultsLimit": \#(limit)\#(types)"#)
        for isReversed in [false, true] {
          ask(
            "changes/zone",
            #""zones": [{"zoneID": {"zoneName": "_defaultZone"}, "reverse": \#(isReversed), "#
              + #""resultsLimit": \#(limit)\#(types)}]"#)
        }
      }
    }
    for operation in [
      "zones/list", "subscriptions/list", "users/caller", "users/discover", "users/lookup/contacts",
    ] { ask(operation, "") }
    ask("zones/lookup", #""zones": [{"zoneName": "_defaultZone"}]"#)
    ask("users/lookup/email", #""users": [{"emailAddress": "alice@example.com"}]"#)
    ask(
      "subscriptions/modify",
      #""operations": [{"operationType": "create", "subscription": {"subscriptionID": "s", "#
        + #""subscriptionType": "query", "firesOn": ["create"], "query": {"recordType": "Diary"}}}]"#
    )
    ask("records/lookup", #""records": [{"recordName": "b0"}, {"recordName": "free"}]"#)
    ask("assets/rereference", #""assets": [{"recordName": "free", "fieldName": "file"}]"#)
    for kind in ["update", "delete", "forceDelete"] {
      ask("records/modify", #""operations": [\#(Service.operation(kind, "free"))]"#)
    }
    for kind in ["create", "update"] {
      ask("records/modify", #""operations": [\#(Service.operation(kind, "b3", tag: "1"))]"#)
    }
    return questions
  }
}
