import Foundation
import JSONCoding
import Testing

/// The texts that a parser of RFC 8259 accepts (`y_`) and refuses (`n_`). About the texts of `i_` the
/// parser decides by itself; its decision, `y` or `n`, follows.
struct JSONConformanceTests {
  struct Case: Sendable, CustomTestStringConvertible {
    var name: String
    var isAccepted: Bool
    var text: Data

    var testDescription: String { name }

    /// Reads a line of ``table``.
    init(_ line: Substring) {
      let parts = line.split(separator: " ", maxSplits: 1)
      name = String(parts[0])
      var text = parts.count > 1 ? parts[1] : ""
      isAccepted = name.hasPrefix("y_")
      if name.hasPrefix("i_") {
        isAccepted = text.hasPrefix("y ")
        text = text.dropFirst(2)
      }
      self.text = Self.bytes(of: text)
    }

    /// Returns the bytes of a text. In it, `<0A>` is a byte, and `<LF>` a name of one. `<500[>` is
    /// that many arrays in each other, and `<512 n>` that many letters.
    private static func bytes(of text: Substring) -> Data {
      var bytes = Data()
      var rest = text
      while let start = rest.firstIndex(of: "<"), let end = rest[start...].firstIndex(of: ">") {
        bytes += Data(rest[..<start].utf8)
        let word = rest[rest.index(after: start)..<end]
        rest = rest[rest.index(after: end)...]
        switch word {
        case "SP": bytes.append(0x20)
        case "TAB": bytes.append(0x09)
        case "LF": bytes.append(0x0A)
        case "CR": bytes.append(0x0D)
        case _ where word.hasSuffix("["):
          let depth = Int(word.dropLast()) ?? 0
          bytes += Data(repeating: UInt8(ascii: "["), count: depth)
          bytes += Data(repeating: UInt8(ascii: "]"), count: depth)
        case _ where word.contains(" "):
          let count = Int(word.dropLast(2)) ?? 0
          bytes += Data(repeating: word.utf8.last ?? 0, count: count)
        default:
          if let byte = word.count == 2 ? UInt8(word, radix: 16) : nil {
            bytes.append(byte)
          } else {
            bytes += Data("<\(word)>".utf8)
          }
        }
      }
      return bytes + Data(rest.utf8)
    }
  }

  static let cases = table.split(separator: "\n").map { Case($0) }

  @Test("Each text is accepted or refused as RFC 8259 and I-JSON say", arguments: cases)
  func conformance(_ text: Case) {
    let error: JSONError?
    do throws(JSONError) {
      _ = try JSONDocument(parsing: text.text)
      error = nil
    } catch let mistake {
      error = mistake
    }
    #expect((error == nil) == text.isAccepted, "\(error.map { "\($0)" } ?? "accepted")")
    let value = try? JSONValue(parsing: text.text)
    #expect((value != nil) == text.isAccepted)
  }

  @Test("The table has texts of each kind, each name once")
  func names() {
    let names = Self.cases.map(\.name)
    #expect(Set(names).count == names.count)
    for prefix in ["y_", "n_", "i_"] {
      #expect(names.count { $0.hasPrefix(prefix) } > 10)
    }
  }

  private static let table = #"""
    y_array_empty []
    y_array_empty_with_space [ ]
    y_array_of_one_string ["one"]
    y_array_of_several_kinds [null, 1, "1", {}, [], true, false, -0.5]
    y_array_with_line_breaks [1<LF>,<CR><LF>2<TAB>]
    y_array_with_empty_string [""]
    y_array_in_arrays [[[]], [[]]]
    y_array_with_trailing_space [2] <SP>
    y_number_zero [0]
    y_number_minus_zero [-0]
    y_number_zero_with_exponent [0e1]
    y_number_zero_with_plus_exponent [0e+1]
    y_number_integer [123]
    y_number_negative_integer [-123]
    y_number_minus_one [-1]
    y_number_with_fraction [123.456789]
    y_number_with_long_fraction [0.00000000000000000000000000000000000000000000000000000001]
    y_number_with_exponent [1e22]
    y_number_with_capital_exponent [1E22]
    y_number_with_negative_exponent [1e-2]
    y_number_with_positive_exponent [1E+2]
    y_number_with_fraction_and_exponent [123.456e78]
    y_number_after_space [ 4]
    y_object_empty {}
    y_object_with_empty_name {"": 0}
    y_object_basic {"asd": "sdf"}
    y_object_several_members {"a": 1, "b": 2, "c": 3}
    y_object_names_of_other_case {"a": 1, "A": 2}
    y_object_name_with_NUL_escape {"foo\u0000bar": 42}
    y_object_same_names_in_other_objects {"a": {"a": {"a": [{"a": 1}, {"a": 2}]}}}
    y_object_names_that_normalize_alike {"e<CC><81>": 1, "<C3><A9>": 2}
    y_object_extreme_numbers {"min": -1.0e+28, "max": 1.0e+28}
    y_object_with_line_breaks {<LF>"a": "b"<LF>}
    y_string_all_short_escapes ["\"\\\/\b\f\n\r\t"]
    y_string_escape_of_ASCII ["\u0041"]
    y_string_escape_with_capital_digits ["\uABCD"]
    y_string_surrogate_pair ["\uD801\udc37"]
    y_string_two_surrogate_pairs ["\ud83d\ude39\ud83d\udc8d"]
    y_string_escaped_NUL ["\u0000"]
    y_string_escaped_control_character ["\u0012"]
    y_string_escaped_noncharacter ["\uFFFF"]
    y_string_escaped_backslash_before_u ["\\u0000"]
    y_string_last_scalar_as_pair ["\uDBFF\uDFFF"]
    y_string_DEL ["<7F>"]
    y_string_in_UTF-8 ["€𝄞"]
    y_string_noncharacter_in_UTF-8 ["<EF><BF><BF>"]
    y_string_line_separator ["<E2><80><A8>"]
    y_string_comment_inside ["a/*b*/c/*d//e"]
    y_string_of_space " "
    y_string_alone "asd"
    y_structure_number_alone 42
    y_structure_negative_number_alone -0.1
    y_structure_null_alone null
    y_structure_true_alone true
    y_structure_false_alone false
    y_structure_space_around <SP><TAB><LF><CR>[]<SP>
    y_structure_500_arrays <500[>
    n_array_empty_text
    n_array_extra_comma ["",]
    n_array_extra_commas ["",,]
    n_array_double_comma [1,,2]
    n_array_leading_comma [,1]
    n_array_only_comma [,]
    n_array_missing_comma [1 2]
    n_array_colon_for_comma ["": 1]
    n_array_unclosed ["x"
    n_array_unclosed_after_comma [1,
    n_array_unclosed_inside [[1]
    n_array_extra_close [1]]
    n_array_closed_by_brace [1}
    n_array_after_it_a_comma [1],
    n_array_after_it_a_number [1]2
    n_array_star [*]
    n_array_with_form_feed [<0C>1]
    n_array_with_vertical_tab [<0B>1]
    n_array_with_no-break_space [<C2><A0>1]
    n_array_invalid_UTF-8_between [<FF>]
    n_number_plus [+1]
    n_number_plus_plus [++1]
    n_number_minus_alone [-]
    n_number_minus_minus [--1]
    n_number_minus_space [- 1]
    n_number_minus_plus [-+1]
    n_number_leading_zero [012]
    n_number_negative_leading_zero [-012]
    n_number_two_zeros [00]
    n_number_zero_then_digit_then_fraction [01.5]
    n_number_fraction_without_digits [1.]
    n_number_fraction_without_digits_before_exponent [1.e1]
    n_number_without_whole_part [.5]
    n_number_negative_without_whole_part [-.5]
    n_number_two_points [1.2.3]
    n_number_exponent_without_digits [1e]
    n_number_exponent_sign_without_digits [1e+]
    n_number_exponent_with_fraction [1e1.5]
    n_number_two_exponents [1e1e1]
    n_number_exponent_with_space [1 e1]
    n_number_zero_exponent_without_digits [0e]
    n_number_hexadecimal [0x1F]
    n_number_hexadecimal_digits [1a]
    n_number_octal_prefix [0o7]
    n_number_underscore [1_000]
    n_number_with_comma_for_point [1,5,]
    n_number_NaN [NaN]
    n_number_minus_NaN [-NaN]
    n_number_Infinity [Infinity]
    n_number_minus_Infinity [-Infinity]
    n_number_full_width_digit [<EF><BC><91>]
    n_number_invalid_UTF-8_after [1<E5>]
    n_number_alone_with_trailing_letter 1x
    n_object_trailing_comma {"a": 1,}
    n_object_trailing_commas {"a": 1,,}
    n_object_leading_comma {,"a": 1}
    n_object_only_comma {,}
    n_object_double_comma {"a": 1,,"b": 2}
    n_object_missing_comma {"a": 1 "b": 2}
    n_object_missing_colon {"a" 1}
    n_object_double_colon {"a":: 1}
    n_object_comma_for_colon {"a", 1}
    n_object_missing_value {"a":}
    n_object_missing_value_before_comma {"a":, "b": 1}
    n_object_missing_name {: 1}
    n_object_name_without_value {"a"}
    n_object_name_without_quotes {a: 1}
    n_object_name_with_single_quotes {'a': 1}
    n_object_number_as_name {1: 1}
    n_object_null_as_name {null: 1}
    n_object_array_as_name {[]: 1}
    n_object_unclosed {"a": 1
    n_object_unclosed_after_name {"a"
    n_object_unclosed_after_colon {"a":
    n_object_closed_by_bracket {"a": 1]
    n_object_repeated_name {"a": 1, "a": 2}
    n_object_repeated_name_and_value {"a": 1, "a": 1}
    n_object_repeated_name_with_escape {"a": 1, "\u0061": 2}
    n_object_repeated_empty_name {"": 1, "": 2}
    n_object_repeated_name_not_side_by_side {"a": 1, "b": {"a": 1}, "a": 2}
    n_object_repeated_name_deep [{"x": [{"a": 1, "a": 2}]}]
    n_object_two {} {}
    n_object_comment_inside {"a": /*c*/ 1}
    n_object_comment_behind {"a": 1}//
    n_object_comment_unclosed {"a": 1}/**
    n_object_hash_comment {"a": 1}#
    n_object_bad_value {"a": truth}
    n_object_name_invalid_UTF-8 {"<B9>": 1}
    n_string_single_quotes ['a']
    n_string_single_quote_alone '
    n_string_unclosed "a
    n_string_unclosed_after_backslash ["\
    n_string_unclosed_after_escaped_quote ["\"]
    n_string_backquotes [`a`]
    n_string_unknown_escape ["\a"]
    n_string_escape_x ["\x00"]
    n_string_escape_of_newline ["\<LF>"]
    n_string_escape_of_digit ["\0"]
    n_string_escape_U ["\U0041"]
    n_string_escape_without_digits ["\u"]
    n_string_escape_with_three_digits ["\u00A"]
    n_string_escape_with_bad_digit ["\u00G0"]
    n_string_escape_with_full_width_digits ["\u<EF><BC><90>041"]
    n_string_escape_of_emoji ["\🌀"]
    n_string_lone_lead_surrogate ["\uD800"]
    n_string_lone_lead_surrogate_then_text ["\uD800abc"]
    n_string_lone_lead_surrogate_then_escape ["\uD800\n"]
    n_string_lone_trail_surrogate ["\uDC00"]
    n_string_two_lead_surrogates ["\uD800\uD800"]
    n_string_surrogates_in_wrong_order ["\uDC00\uD800"]
    n_string_half_escaped_pair ["\uD800\uDC"]
    n_string_lone_surrogate_in_name {"\uDFAA": 0}
    n_string_raw_newline ["a<LF>b"]
    n_string_raw_tab ["<TAB>"]
    n_string_raw_NUL ["<00>"]
    n_string_raw_unit_separator ["<1F>"]
    n_string_invalid_UTF-8 ["<FF>"]
    n_string_truncated_UTF-8 ["<E0><FF>"]
    n_string_lone_continuation ["<81>"]
    n_string_overlong_two_bytes ["<C0><AF>"]
    n_string_overlong_six_bytes ["<FC><83><BF><BF><BF><BF>"]
    n_string_surrogate_in_UTF-8 ["<ED><A0><80>"]
    n_string_beyond_last_scalar ["<F4><90><80><80>"]
    n_string_in_Latin-1 ["<E9>"]
    n_string_in_UTF-16_little_endian <FF><FE>[<00>"<00>"<00>]<00>
    n_string_in_UTF-16_without_mark <00>[<00>]
    n_structure_no_data
    n_structure_space_only <SP>
    n_structure_line_break_only <LF>
    n_structure_mark_only <EF><BB><BF>
    n_structure_broken_mark <EF><BB>{}
    n_structure_two_marks <EF><BB><BF><EF><BB><BF>{}
    n_structure_mark_inside [<EF><BB><BF>1]
    n_structure_open_array [
    n_structure_open_object {
    n_structure_close_array ]
    n_structure_angle_brackets <.>
    n_structure_comma ,
    n_structure_colon :
    n_structure_word_of_capitals True
    n_structure_word_cut nul
    n_structure_word_longer nulll
    n_structure_words_without_comma [true false]
    n_structure_undefined [undefined]
    n_structure_two_values 1 2
    n_structure_trailing_hash {}#
    n_structure_trailing_NUL []<00>
    n_structure_leading_NUL <00>[]
    n_structure_no-break_space_around <C2><A0>[]
    n_structure_100000_arrays <100000[>
    n_structure_513_arrays <513[>
    i_number_beyond_range_of_doubles n [1e400]
    i_number_negative_beyond_range_of_doubles n [-1e400]
    i_number_huge_exponent n [0.4e00669999999999999999999999999999999999999999999999999999999999999]
    i_number_nearer_to_0_than_a_double y [123.456e-789]
    i_number_whole_beyond_64_bits y [9223372036854775808]
    i_number_negative_whole_beyond_64_bits y [-9223372036854775809]
    i_number_whole_of_100_digits y [<100 7>]
    i_number_minus_zero_as_double y [-0.0]
    i_structure_mark_before_the_value y <EF><BB><BF>{}
    i_structure_512_arrays y <512[>
    i_object_name_of_512_bytes y {"<512 n>": 1}
    i_object_name_of_513_bytes n {"<513 n>": 1}
    """#
}
