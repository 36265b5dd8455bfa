// A bot to start from: it plays its pay-off card if it can, then to the centre, and discards onto short stacks.

using System;
using System.IO;
using System.Linq;
using System.Runtime.Serialization;
using System.Runtime.Serialization.Json;
using System.Text;
using System.Xml;

static class Bot
{
    /// <summary>Choose one of the legal actions: improve the play here.</summary>
    static string Choose(View view, string[] legal)
    {
        return legal.FirstOrDefault(action => action.StartsWith("p-", StringComparison.Ordinal))
            ?? legal.FirstOrDefault(action => action.Contains("-c"))
            ?? ShortestDiscard(view, legal)
            ?? legal[0];
    }

    /// <summary>Find the discard from the hand onto the shortest side stack; the last of equal ones.</summary>
    static string ShortestDiscard(View view, string[] legal)
    {
        string[][] side = view.Seats[view.Seat].Side;
        Func<string, int> size = action => side[int.Parse(action.Split('-')[1].Substring(1))].Length;
        // The sort is stable, so that the last of the shortest comes first.
        var discards = legal.Where(action => action[0] == 'h' && action.Contains("-s"));
        return discards.Reverse().OrderBy(size).FirstOrDefault();
    }

    static void Main()
    {
        using (var input = new StreamReader(Console.OpenStandardInput(), Encoding.UTF8))
        {
            for (string line = input.ReadLine(); line != null; line = input.ReadLine())
            {
                var request = Read<Request>(line);
                if (request.Type == "bye")
                    break;
                var answer = new Answer { Id = request.Id };
                if (request.Type == "move")
                {
                    var move = Read<Move>(line);
                    answer.Move = Choose(move.View, move.Legal);
                }
                Console.WriteLine(Write(answer));
            }
        }
    }

    /// <summary>Read the fields of T from a line; other fields may hold anything, at any depth.</summary>
    static T Read<T>(string line)
    {
        byte[] bytes = Encoding.UTF8.GetBytes(line);
        using (XmlReader reader = JsonReaderWriterFactory.CreateJsonReader(bytes, XmlDictionaryReaderQuotas.Max))
            return (T)new DataContractJsonSerializer(typeof(T)).ReadObject(reader);
    }

    static string Write(Answer answer)
    {
        using (var stream = new MemoryStream())
        {
            new DataContractJsonSerializer(typeof(Answer)).WriteObject(stream, answer);
            return Encoding.UTF8.GetString(stream.ToArray());
        }
    }
}

// The fields read from a request: add others as PROTOCOL.md names them; all others are skipped.

[DataContract]
class Request
{
    [DataMember(Name = "type")] public string Type { get; set; }
    [DataMember(Name = "id")] public long Id { get; set; }
}

[DataContract]
class Move
{
    [DataMember(Name = "view")] public View View { get; set; }
    [DataMember(Name = "legal")] public string[] Legal { get; set; }
}

[DataContract]
class View
{
    [DataMember(Name = "seat")] public int Seat { get; set; }
    [DataMember(Name = "hand")] public string[] Hand { get; set; }
    [DataMember(Name = "centre")] public CentreStack[] Centre { get; set; }
    [DataMember(Name = "seats")] public SeatView[] Seats { get; set; }
}

[DataContract]
class CentreStack
{
    [DataMember(Name = "height")] public int Height { get; set; }
    [DataMember(Name = "needs")] public string Needs { get; set; }
}

[DataContract]
class SeatView
{
    [DataMember(Name = "payoff")] public Payoff Payoff { get; set; }
    [DataMember(Name = "side")] public string[][] Side { get; set; }
}

[DataContract]
class Payoff
{
    [DataMember(Name = "top")] public string Top { get; set; }
    [DataMember(Name = "left")] public int? Left { get; set; }
}

[DataContract]
class Answer
{
    [DataMember(Name = "id")] public long Id { get; set; }
    [DataMember(Name = "move", EmitDefaultValue = false)] public string Move { get; set; }
}
